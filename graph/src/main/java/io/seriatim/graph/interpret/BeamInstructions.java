package io.seriatim.graph.interpret;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.op.LodSlot;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Lod;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Reads whole sentences out of the steps of a search along beams. Of each step there are tokens and scores, whose
 * offsets say which candidates continue which candidate of the step before.
 */
final class BeamInstructions {
    private BeamInstructions() {
    }

    /** A sentence from its last token back, and where the walk back is. */
    private static final class Sentence {
        private final List<Long> tokens = new ArrayList<>();
        private final List<Double> scores = new ArrayList<>();
        private int candidate;

        private void add(long token, double score) {
            tokens.add(token);
            scores.add(score);
        }

        private double score() {
            return scores.isEmpty() ? Double.NEGATIVE_INFINITY : scores.getFirst();
        }
    }

    /** One step. */
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    private record Step(long[] tokens, double[] scores, long[] sources, long[] prefixes) {
        static Step of(OpDesc op, int index, Tensor tokens, Tensor scores, Tensor lod) {
            Lod offsets = Lod.of(lod);
            if (offsets.depth() != 2 || offsets.rows() != tokens.shape().size()
                    || scores.shape().size() != tokens.shape().size()) {
                throw new IllegalArgumentException("Operation '" + op.type() + "': element " + index
                        + " of Ids and Scores must have two levels of LoD that end with its tokens, but has "
                        + tokens.shape() + " and " + scores.shape() + " with " + offsets);
            }
            return new Step(tokens.toLongArray(), scores.toDoubleArray(), offsets.level(0), offsets.level(1));
        }

        /** The prefix that a candidate continues. */
        int prefix(int candidate) {
            int prefix = 0;
            while (prefixes[prefix + 1] <= candidate) {
                prefix++;
            }
            return prefix;
        }
    }

    static void decode(OpDesc op, Environment environment) {
        Attrs attrs = new Attrs(op, Operations.system().get(op.type()));
        int size = attrs.getInt("beam_size");
        if (size < 1) {
            throw new IllegalArgumentException(
                    "Operation '" + op.type() + "': beam_size must be 1 or more, but is " + size);
        }
        List<Step> steps = steps(op, environment);
        int sources = steps.getFirst().sources.length - 1;
        List<List<Sentence>> found = new ArrayList<>();
        for (int source = 0; source < sources; source++) {
            found.add(sentences(op, steps, source, size, attrs.getLong("end_id")));
        }
        store(op, environment, found);
    }

    private static List<Step> steps(OpDesc op, Environment environment) {
        List<Tensor> tokens = list(op, "Ids", op.input("Ids"), environment);
        List<Tensor> scores = list(op, "Scores", op.input("Scores"), environment);
        List<Tensor> offsets = list(op, "the LoD of Ids", op.input(LodSlot.of("Ids")), environment);
        if (tokens.isEmpty() || tokens.size() != scores.size() || tokens.size() != offsets.size()) {
            throw new IllegalArgumentException("Operation '" + op.type() + "': Ids and Scores must have as many "
                    + "elements, at least one, all with offsets, but have " + tokens.size() + ", " + scores.size()
                    + " and " + offsets.size());
        }
        List<Step> steps = new ArrayList<>();
        for (int i = 0; i < tokens.size(); i++) {
            steps.add(Step.of(op, i, tokens.get(i), scores.get(i), offsets.get(i)));
            if (steps.getLast().sources.length != steps.getFirst().sources.length) {
                throw new IllegalArgumentException("Operation '" + op.type() + "': element " + i
                        + " of Ids must have as many sequences as the first, " + (steps.getFirst().sources.length - 1)
                        + ", but has " + (steps.getLast().sources.length - 1));
            }
        }
        return steps;
    }

    private static List<Tensor> list(OpDesc op, String slot, List<String> names, Environment environment) {
        if (names.isEmpty() || !(environment.find(names.getFirst()) instanceof TensorList list)) {
            throw new IllegalArgumentException(
                    "Operation '" + op.type() + "': " + slot + " must be a list of tensors (an array)");
        }
        List<Tensor> tensors = new ArrayList<>();
        for (Tensor tensor : list.tensors()) {
            if (tensor == null) {
                throw new IllegalArgumentException("Operation '" + op.type() + "': " + slot + " has no element "
                        + tensors.size());
            }
            tensors.add(tensor);
        }
        return tensors;
    }

    /** Walks back from the last step, or from the one after which a source was left out. */
    private static List<Sentence> sentences(OpDesc op, List<Step> steps, int source, int size, long end) {
        List<Sentence> sentences = new ArrayList<>();
        for (Step step : steps.reversed()) {
            if (sentences.isEmpty()) {
                int begin = (int) step.sources[source];
                for (int prefix = begin; prefix < step.sources[source + 1]; prefix++) {
                    for (int at = (int) step.prefixes[prefix]; at < step.prefixes[prefix + 1]; at++) {
                        Sentence sentence = new Sentence();
                        sentence.add(step.tokens[at], step.scores[at]);
                        sentence.candidate = prefix;
                        sentences.add(sentence);
                    }
                }
                continue;
            }
            for (Sentence sentence : sentences) {
                int at = sentence.candidate;
                if (at >= step.tokens.length) {
                    throw new IllegalArgumentException("Operation '" + op.type() + "': a step of Ids must have a token "
                            + "for each prefix of the next step, but has " + step.tokens.length);
                }
                // Tokens after the end are repeated in each step.
                if (step.tokens[at] != end) {
                    sentence.add(step.tokens[at], step.scores[at]);
                }
                sentence.candidate = step.prefix(at);
            }
        }
        if (sentences.size() > size) {
            throw new IllegalArgumentException("Operation '" + op.type() + "': sequence " + source
                    + " must have at most beam_size, " + size + ", candidates, but has " + sentences.size());
        }
        // As in Paddle, a sequence with fewer candidates gets empty sentences.
        while (sentences.size() < size) {
            sentences.add(new Sentence());
        }
        sentences.sort(Comparator.comparingDouble((Sentence each) -> each.score()).reversed());
        return sentences;
    }

    private static void store(OpDesc op, Environment environment, List<List<Sentence>> found) {
        List<Long> tokens = new ArrayList<>();
        List<Double> scores = new ArrayList<>();
        long[] sources = new long[found.size()];
        List<Long> lengths = new ArrayList<>();
        for (int i = 0; i < sources.length; i++) {
            sources[i] = found.get(i).size();
            for (Sentence sentence : found.get(i)) {
                tokens.addAll(sentence.tokens.reversed());
                scores.addAll(sentence.scores.reversed());
                lengths.add((long) sentence.tokens.size());
            }
        }
        DType dtype = list(op, "Scores", op.input("Scores"), environment).getFirst().dtype();
        environment.set(op.output("SentenceIds").getFirst(),
                Tensor.of(tokens.stream().mapToLong(Long::longValue).toArray(), tokens.size()));
        environment.set(op.output("SentenceScores").getFirst(),
                Tensor.of(dtype, scores.stream().mapToDouble(Double::doubleValue).toArray(), scores.size()));
        Lod lod = Lod.of(Lod.ofLengths(sources).last(),
                Lod.ofLengths(lengths.stream().mapToLong(Long::longValue).toArray()).last());
        for (String slot : List.of("SentenceIds", "SentenceScores")) {
            List<String> names = op.output(LodSlot.of(slot));
            if (!names.isEmpty() && !names.getFirst().equals(GradientRule.EMPTY)) {
                environment.set(names.getFirst(), lod.toTensor());
            }
        }
    }
}
