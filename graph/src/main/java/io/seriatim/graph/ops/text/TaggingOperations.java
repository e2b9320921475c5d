package io.seriatim.graph.ops.text;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.LodSlot;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.ops.common.Checks;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Unary;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Conditional random fields over chains of tags: their loss, and the best tags. */
public final class TaggingOperations {
    private static final String LOSS = "linear_chain_crf";
    private static final String DECODING = "crf_decoding";
    private static final String VITERBI = "viterbi_decode";

    private TaggingOperations() {
    }

    public static void register(Operations registry) {
        loss(registry);
        decoding(registry);
        viterbi(registry);
    }

    private static void loss(Operations registry) {
        Operation.define(LOSS).in("Emission", "Transition", "Label", "Length?")
                .out("Alpha~", "EmissionExps~", "TransitionExps~", "LogLikelihood").readsLod("Label").sharesNoLod()
                .infer(inference -> {
                    long[] emission = inferChain(inference);
                    requireLabels(inference, emission);
                    inference.same("Emission", "Alpha");
                    inference.same("Emission", "EmissionExps");
                    inference.same("Transition", "TransitionExps");
                    inference.set("LogLikelihood", inference.dtype("Emission"),
                            inference.has("Length") || !inference.isForRun()
                                    ? emission[0]
                                    : inference.sequences("Label"),
                            1);
                }).lower(TaggingOperations::loss)
                .differentiateAs(l -> new ChainSteps(l, LOSS).lower(), "Label", "Length", LodSlot.of("Label"))
                .grad(LOSS + "_grad(Emission, Transition, Label, Alpha, EmissionExps, TransitionExps, Length, "
                        + "LogLikelihood@GRAD) -> Emission@GRAD, Transition@GRAD", TaggingOperations::lossGradient)
                .register(registry);
    }

    /** Checks what all operations on a chain read, and returns the dimensions of the emissions. */
    private static long[] inferChain(Inference inference) {
        Checks.floating(inference, "Emission", "Transition");
        long[] emission = inference.dims("Emission");
        long[] transition = inference.dims("Transition");
        boolean padded = inference.has("Length");
        int rank = padded ? 3 : 2;
        inference.require(emission.length == rank && emission[rank - 1] != 0,
                "Emission must have the shape %s, but has %s",
                padded ? "[batch, steps, tags]" : "[rows, tags], without Length,", Numbers.text(emission));
        long tags = emission[rank - 1];
        inference.require(
                transition.length == 2
                        && (transition[0] < 0 || transition[1] < 0 || transition[0] == transition[1] + 2)
                        && (transition[1] < 0 || tags < 0 || transition[1] == tags),
                "Transition must have the shape [tags + 2, tags], with the tags of Emission, but the shapes are %s and %s",
                Numbers.text(transition), Numbers.text(emission));
        if (padded) {
            Checks.whole(inference, "Length");
            Checks.elements(inference, "Length", emission[0]);
        }
        return emission;
    }

    private static void requireLabels(Inference inference, long[] emission) {
        Checks.whole(inference, "Label");
        long[] label = inference.dims("Label");
        int rank = emission.length - 1;
        boolean fits = label.length == rank
                || (label.length == rank + 1 && (label[rank] < 0 || label[rank] == 1));
        for (int i = 0; fits && i < rank; i++) {
            fits = label[i] < 0 || emission[i] < 0 || label[i] == emission[i];
        }
        inference.require(fits, "Label must have a tag for each row of Emission %s, but has the shape %s",
                Numbers.text(emission), Numbers.text(label));
    }

    private static Operand saved(Lowering l, String slot, Operand like) {
        return l.outputOrTemporary(slot, like.spec());
    }

    /** Despite its name, Paddle's LogLikelihood is negative: a loss. */
    private static void loss(Lowering l) {
        Operand emission = l.in("Emission");
        Operand transition = l.in("Transition");
        Operand factors = l.unary(Unary.Function.EXP, transition);
        l.out("TransitionExps", factors);
        l.call(LOSS, (in, out) -> {
            Tensor emissions = Checks.tensor(in, 0);
            int tags = Checks.dim(emissions, -1);
            Sequences sequences = sequences(LOSS, "Label", emissions, in.get(3), in.get(5));
            int[] labels = labels(Checks.tensor(in, 2), sequences, tags);
            double[] values = emissions.toDoubleArray();
            double[] exponentials = exponentials(values, tags);
            double[] alpha = new double[values.length];
            TagChain chain =
                    new TagChain(tags, Checks.tensor(in, 1).toDoubleArray(), Checks.tensor(in, 4).toDoubleArray());
            double[] losses = new double[sequences.count()];
            for (int i = 0; i < losses.length; i++) {
                int length = sequences.lengths()[i];
                losses[i] = length == 0
                        ? 0
                        : chain.loss(values, exponentials, sequences.begins()[i], length, labels, alpha);
            }
            Elements.write(losses, Checks.tensor(out, 0));
            Elements.write(alpha, Checks.tensor(out, 1));
            Elements.write(exponentials, Checks.tensor(out, 2));
        }, Arrays.asList(emission, transition, l.in("Label"), l.optional("Length"), factors, l.lod("Label")),
                List.of(l.output("LogLikelihood"), saved(l, "Alpha", emission), saved(l, "EmissionExps", emission)));
    }

    private static Sequences sequences(String type, String slot, Tensor rows, @Nullable Tensor lengths,
            @Nullable Tensor lod) {
        return Sequences.of(type, slot, rows, "Length", lengths, lod);
    }

    /** Those of the sequences; padding is not read. */
    static int[] labels(Tensor given, Sequences sequences, int tags) {
        long[] values = given.toLongArray();
        int[] labels = new int[values.length];
        for (int i = 0; i < sequences.count(); i++) {
            int begin = sequences.begins()[i];
            for (int at = begin; at < begin + sequences.lengths()[i]; at++) {
                labels[at] = Checks.within(LOSS, "Label", at, values[at], 0, tags - 1);
            }
        }
        return labels;
    }

    /** Of each number less the largest of its row. */
    private static double[] exponentials(double[] values, int tags) {
        double[] exponentials = new double[values.length];
        for (int row = 0; row < values.length; row += tags) {
            double largest = Double.NEGATIVE_INFINITY;
            for (int i = row; i < row + tags; i++) {
                largest = Math.max(largest, values[i]);
            }
            for (int i = row; i < row + tags; i++) {
                exponentials[i] = Math.exp(values[i] - largest);
            }
        }
        return exponentials;
    }

    private static void lossGradient(Lowering l) {
        Operand emission = l.in("Emission");
        Operand transition = l.in("Transition");
        l.call(LOSS + "_grad", (in, out) -> {
            Tensor alpha = Checks.tensor(in, 0);
            int tags = Checks.dim(alpha, -1);
            Sequences sequences = sequences(LOSS, "Label", alpha, in.get(4), in.get(6));
            int[] labels = labels(Checks.tensor(in, 3), sequences, tags);
            double[] alphas = alpha.toDoubleArray();
            double[] exponentials = Checks.tensor(in, 1).toDoubleArray();
            double[] factors = Checks.tensor(in, 2).toDoubleArray();
            double[] scales = Checks.tensor(in, 5).toDoubleArray();
            double[] ofEmissions = new double[alphas.length];
            double[] ofWeights = new double[factors.length];
            // The gradient reads the factors of transitions only, not their weights.
            TagChain chain = new TagChain(tags, factors, factors);
            for (int i = 0; i < sequences.count(); i++) {
                if (sequences.lengths()[i] > 0) {
                    chain.gradient(exponentials, alphas, sequences.begins()[i], sequences.lengths()[i], labels,
                            scales[i], ofEmissions, ofWeights);
                }
            }
            Elements.write(ofEmissions, Checks.tensor(out, 0));
            Elements.write(ofWeights, Checks.tensor(out, 1));
        }, Arrays.asList(l.in("Alpha"), l.in("EmissionExps"), l.in("TransitionExps"), l.in("Label"),
                l.optional("Length"), l.in("LogLikelihood@GRAD"), l.lod("Label")),
                List.of(saved(l, "Emission@GRAD", emission), saved(l, "Transition@GRAD", transition)));
    }

    /** The best tags; with labels, for each tag whether it is the label. */
    private static void decoding(Operations registry) {
        Operation.define(DECODING).in("Emission", "Transition", "Label?", "Length?").out("ViterbiPath")
                .readsLod("Emission").sharesLod("Emission", "ViterbiPath")
                .infer(inference -> {
                    long[] emission = inferChain(inference);
                    if (inference.has("Label")) {
                        requireLabels(inference, emission);
                    }
                    inference.set("ViterbiPath", DType.INT64, emission[0], inference.has("Length") ? emission[1] : 1);
                    if (inference.isForRun() && !inference.has("Length")) {
                        inference.sequences("Emission");
                    }
                }).lower(l -> l.call(DECODING, (in, out) -> {
                    Tensor emissions = Checks.tensor(in, 0);
                    int tags = Checks.dim(emissions, -1);
                    Sequences sequences = sequences(DECODING, "Emission", emissions, in.get(3), in.get(4));
                    double[] weights = Checks.tensor(in, 1).toDoubleArray();
                    BestPath best = new BestPath(tags, emissions.dtype() == DType.FLOAT32, weights, 2 * tags,
                            Arrays.copyOf(weights, tags), Arrays.copyOfRange(weights, tags, 2 * tags));
                    double[] values = emissions.toDoubleArray();
                    long[] path = new long[values.length / tags];
                    long @Nullable [] labels = in.get(2) == null ? null : Checks.tensor(in, 2).toLongArray();
                    for (int i = 0; i < sequences.count(); i++) {
                        int begin = sequences.begins()[i];
                        int length = sequences.lengths()[i];
                        if (length > 0) {
                            best.find(values, begin * tags, length, path, begin);
                        }
                        for (int at = begin; labels != null && at < begin + length; at++) {
                            path[at] = path[at] == labels[at] ? 1 : 0;
                        }
                    }
                    Elements.write(path, Checks.tensor(out, 0));
                }, Arrays.asList(l.in("Emission"), l.in("Transition"), l.optional("Label"), l.optional("Length"),
                        l.lod("Emission")),
                        List.of(l.output("ViterbiPath"))))
                .register(registry);
    }

    /**
     * The best tags and their weight. With tags for begin and end of a sequence, they are the last two: of them, the
     * last row of transitions leads to the first tag, and the row before has the weights of the last tag.
     */
    private static void viterbi(Operations registry) {
        Operation.define(VITERBI).in("Input", "Transition", "Length").out("Scores", "Path")
                .attr("include_bos_eos_tag", true).values("Length").infer(TaggingOperations::inferViterbi)
                .lower(l -> {
                    boolean bounded = l.attrs().getBool("include_bos_eos_tag");
                    l.call(VITERBI,
                            (in, out) -> viterbi(bounded, Checks.tensor(in, 0), Checks.tensor(in, 1),
                                    Checks.tensor(in, 2),
                                    Checks.tensor(out, 0), Checks.tensor(out, 1)),
                            List.of(l.in("Input"), l.in("Transition"), l.in("Length")),
                            List.of(l.output("Scores"), l.output("Path")));
                }).register(registry);
    }

    private static void inferViterbi(Inference inference) {
        Checks.floating(inference, "Input", "Transition");
        long[] input = inference.dims("Input");
        long[] transition = inference.dims("Transition");
        inference.require(input.length == 3 && input[2] != 0 && input[0] != 0,
                "Input must have the shape [batch, steps, tags], without an empty batch or no tags, but has %s",
                Numbers.text(input));
        boolean square = transition.length == 2;
        for (int i = 0; square && i < 2; i++) {
            square = transition[i] < 0 || input[2] < 0 || transition[i] == input[2];
        }
        inference.require(square, "Transition must have the shape [tags, tags], with the %d tags of Input, but has %s",
                input[2], Numbers.text(transition));
        inference.require(!inference.attrs().getBool("include_bos_eos_tag") || input[2] < 0 || input[2] >= 2,
                "include_bos_eos_tag needs two tags or more, but there is one");
        Checks.whole(inference, "Length");
        long lengths = Inference.size(inference.dims("Length"));
        inference.require(lengths < 0 || input[0] < 0 || lengths == input[0],
                "Length must have %d elements, but has %d", input[0], lengths);
        long[] values = inference.values("Length");
        if (inference.isForRun() && values != null) {
            long longest = Arrays.stream(values).max().orElse(0);
            inference.require(longest >= 0 && longest <= input[1],
                    "the numbers in Length must be from 0 to %d, but the largest is %d", input[1], longest);
            inference.set("Scores", inference.dtype("Input"), input[0]);
            inference.set("Path", DType.INT64, input[0], longest);
        } else {
            // Paddle infers the type of the lengths, but computes scores in that of Input.
            inference.set("Scores", inference.dtype("Length"), input[0]);
            inference.asDeclared("Path");
        }
    }

    private static void viterbi(boolean bounded, Tensor input, Tensor transition, Tensor given, Tensor scores,
            Tensor path) {
        int steps = Checks.dim(input, 1);
        int tags = Checks.dim(input, 2);
        int width = Checks.dim(path, 1);
        int[] lengths = Sequences.lengths(VITERBI, "Length", given, steps);
        double[] weights = transition.toDoubleArray();
        double[] none = new double[tags];
        int begin = (tags - 1) * tags;
        BestPath best = new BestPath(tags, input.dtype() == DType.FLOAT32, weights, 0,
                bounded ? Arrays.copyOfRange(weights, begin, begin + tags) : none,
                bounded ? Arrays.copyOfRange(weights, begin - tags, begin) : none);
        double[] values = input.toDoubleArray();
        double[] sums = new double[lengths.length];
        long[] tagged = new long[WorkingMemory.length(lengths.length, width)];
        for (int i = 0; i < lengths.length; i++) {
            int at = i * steps * tags;
            sums[i] = lengths[i] > 0
                    ? best.find(values, at, lengths[i], tagged, i * width)
                    : steps > 0 ? best.ofNothing(values, at) : 0;
        }
        Elements.write(sums, scores);
        Elements.write(tagged, path);
    }
}
