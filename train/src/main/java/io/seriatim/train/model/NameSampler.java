package io.seriatim.train.model;

import io.seriatim.executor.Executor;
import io.seriatim.executor.Plan;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.Tensor;
import io.seriatim.train.Model;
import io.seriatim.train.data.Vocabulary;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/**
 * Samples names from a trained {@link CharacterTransformer}. A name begins after a line feed and ends before the next
 * one. Not thread-safe.
 */
public final class NameSampler {
    private static final int LONGEST = 200;
    private final Predictor predictor;
    private final Vocabulary vocabulary;
    private final int context;
    private final int longest;
    private final int end;

    /** Predicts the next token. */
    @FunctionalInterface
    public interface Predictor {
        /**
         * Computes the logits of the next token at each position, which depend only on the tokens up to that position.
         *
         * @param tokens
         *            INT64 [n, context]
         * @return float32 [n, context, size of the vocabulary] on the host; the caller closes it
         */
        Tensor logits(Tensor tokens);
    }

    /**
     * A sampled name.
     *
     * @param name
     *            the name, which may be empty
     * @param exists
     *            whether the name exists
     */
    public record Invention(String name, boolean exists) {
    }

    /** An incomplete name. */
    private static final class Draft {
        private final SplittableRandom random;
        private int[] tokens = new int[32];
        private int length;

        Draft(SplittableRandom random, int first) {
            this.random = random;
            add(first);
        }

        void add(int token) {
            tokens = length == tokens.length ? Arrays.copyOf(tokens, 2 * length) : tokens;
            tokens[length++] = token;
        }
    }

    /**
     * Creates a sampler with any predictor.
     *
     * @param predictor
     *            predicts the next token
     * @param vocabulary
     *            the vocabulary of its tokens, which must contain the line feed
     * @param context
     *            the number of tokens that the predictor takes, at least 1
     * @param longest
     *            the maximum length of a name, at least 1
     * @throws IllegalArgumentException
     *             if the vocabulary has no line feed, or a number is out of range
     */
    public NameSampler(Predictor predictor, Vocabulary vocabulary, int context, int longest) {
        if (!vocabulary.contains('\n')) {
            throw new IllegalArgumentException(
                    "Names begin and end at line feeds, but the vocabulary has none: take that of the training text");
        }
        if (context < 1 || longest < 1) {
            throw new IllegalArgumentException(
                    "Names must have at least 1 token before the next and 1 character, but these are " + context
                            + " and " + longest);
        }
        this.predictor = predictor;
        this.vocabulary = vocabulary;
        this.context = context;
        this.longest = longest;
        this.end = vocabulary.token('\n');
    }

    /**
     * Creates a sampler with a model whose parameters are in the executor's scope.
     *
     * @param executor
     *            runs the model
     * @param model
     *            of a {@link CharacterTransformer}
     * @param vocabulary
     *            the vocabulary of the training text
     * @return a sampler of names of up to 200 characters
     */
    public static NameSampler of(Executor executor, Model model, Vocabulary vocabulary) {
        return of(executor, model.evaluation().prune(model.inputs(), model.outputs()), model.inputs(), model.outputs(),
                vocabulary);
    }

    /**
     * Creates a sampler with a saved model, whose parameters are set in the executor's scope.
     *
     * @param executor
     *            runs the model
     * @param model
     *            of a {@link CharacterTransformer}, which must stay open while the sampler is used
     * @param vocabulary
     *            the vocabulary of the training text
     * @return a sampler of names of up to 200 characters
     * @throws IllegalArgumentException
     *             if the model does not have exactly one input, of two dimensions, and exactly one output
     */
    public static NameSampler of(Executor executor, InferenceModels.InferenceModel model, Vocabulary vocabulary) {
        NameSampler inventor = of(executor, model.program(), model.feeds(), model.fetches(), vocabulary);
        model.parameters().forEach(executor.scope()::set);
        return inventor;
    }

    private static NameSampler of(Executor executor, Program program, List<String> feeds, List<String> fetches,
            Vocabulary vocabulary) {
        List<Long> dims = feeds.size() == 1 ? program.global().get(feeds.getFirst()).tensor().dims() : List.of();
        if (dims.size() != 2 || dims.get(1) < 1 || fetches.size() != 1) {
            throw new IllegalArgumentException(
                    "A model that invents names must have one input [n, context] and one output, but is given "
                            + feeds + (feeds.size() == 1 ? " " + dims : "") + " and gives " + fetches
                            + ": take one that 'train names' has saved");
        }
        Plan plan = executor.compile(program, Executor.feeds(feeds.getFirst()), Executor.fetches(fetches.getFirst()));
        return new NameSampler(tokens -> plan.run(tokens).get(fetches.getFirst()), vocabulary,
                Math.toIntExact(dims.get(1)), LONGEST);
    }

    /**
     * Samples names, in one batch.
     *
     * @param count
     *            the number of names, at least 1
     * @param temperature
     *            the divisor of the logits, greater than 0; below 1, likely names become more frequent
     * @param seed
     *            the seed; the same seed, model and temperature give the same names
     * @param exists
     *            tests whether a name exists
     * @return the names, which may contain duplicates
     * @throws IllegalArgumentException
     *             if a number is out of range, or the model has another vocabulary or computes NaN
     */
    public List<Invention> invent(int count, double temperature, long seed, Predicate<String> exists) {
        if (count < 1 || !(temperature > 0) || Double.isInfinite(temperature)) {
            throw new IllegalArgumentException(
                    "At least 1 name is invented, at a finite temperature above 0, but these are " + count + " and "
                            + temperature);
        }
        SplittableRandom source = new SplittableRandom(seed);
        // Each name has its own random numbers, so it does not depend on when other names end.
        List<Draft> drafts = IntStream.range(0, count).mapToObj(_ -> new Draft(source.split(), end)).toList();
        List<Draft> open = drafts;
        while (!open.isEmpty()) {
            extend(open, temperature);
            open = open.stream().filter(draft -> draft.tokens[draft.length - 1] != end && draft.length <= longest)
                    .toList();
        }
        List<Invention> inventions = new ArrayList<>();
        for (Draft draft : drafts) {
            int last = draft.tokens[draft.length - 1] == end ? draft.length - 1 : draft.length;
            String name = vocabulary.decode(Arrays.copyOfRange(draft.tokens, 1, last));
            inventions.add(new Invention(name, exists.test(name)));
        }
        return inventions;
    }

    private void extend(List<Draft> open, double temperature) {
        long[] windows = new long[Math.multiplyExact(open.size(), context)];
        for (int row = 0; row < open.size(); row++) {
            fill(windows, row * context, open.get(row));
        }
        float[] scores;
        try (Tensor tokens = Tensor.of(windows, open.size(), context); Tensor logits = predictor.logits(tokens)) {
            scores = logits.toFloatArray();
        }
        if (scores.length != (long) windows.length * vocabulary.size()) {
            throw new IllegalArgumentException(
                    "The model must score each of the " + vocabulary.size() + " characters at " + windows.length
                            + " positions, but gives " + scores.length
                            + " scores: give it the vocabulary of its training text");
        }
        for (int row = 0; row < open.size(); row++) {
            Draft draft = open.get(row);
            int position = row * context + Math.min(draft.length, context) - 1;
            draft.add(choose(scores, position * vocabulary.size(), temperature, draft.random.nextDouble()));
        }
    }

    /**
     * Copies the last tokens of a draft. A short draft is followed by line feeds, which do not affect the logits before
     * them.
     */
    private void fill(long[] windows, int at, Draft draft) {
        int from = Math.max(0, draft.length - context);
        for (int i = 0; i < context; i++) {
            windows[at + i] = from + i < draft.length ? draft.tokens[from + i] : end;
        }
    }

    /**
     * Returns the first token at which the cumulative probability exceeds {@code number}, which is from 0 to below 1.
     */
    private int choose(float[] scores, int from, double temperature, double number) {
        double highest = Double.NEGATIVE_INFINITY;
        for (int i = 0; i < vocabulary.size(); i++) {
            highest = Math.max(highest, scores[from + i]);
        }
        if (Double.isNaN(highest) || Double.isInfinite(highest)) {
            throw new IllegalArgumentException("The model's scores must be numbers, but the highest is " + highest
                    + ": its training has failed");
        }
        double[] weights = new double[vocabulary.size()];
        double sum = 0;
        for (int i = 0; i < weights.length; i++) {
            weights[i] = Math.exp((scores[from + i] - highest) / temperature);
            sum += weights[i];
        }
        double rest = number * sum;
        int chosen = 0;
        while (chosen < weights.length - 1 && rest >= weights[chosen]) {
            rest -= weights[chosen++];
        }
        return chosen;
    }
}
