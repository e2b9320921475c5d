package io.seriatim.train.model;

import io.seriatim.executor.Executor;
import io.seriatim.executor.Plan;
import io.seriatim.graph.Program;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.tensor.Tensor;
import io.seriatim.train.Model;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/** Invents names with a trained character transformer: a name begins after a newline, and ends before the next. Of one thread. */
public final class NameInventor {
    private static final char END = '\n';
    private final Predictor predictor;
    private final String characters;
    private final int context;
    private final int longest;

    /** Computes what may come next. */
    @FunctionalInterface
    public interface Predictor {
        /**
         * The scores of the next character at each position; those of a position depend on the tokens up to it only.
         *
         * @param tokens
         *            int64 [n, context]
         * @return float32 [n, context, vocabulary], of the host, which then belongs to the caller
         */
        Tensor logits(Tensor tokens);
    }

    /**
     * A name that was invented.
     *
     * @param name
     *            its characters, without newline
     * @param exists
     *            whether it is one that there is
     */
    public record Invention(String name, boolean exists) {
    }

    /**
     * With any predictor.
     *
     * @param predictor
     *            computes what may come next
     * @param characters
     *            the vocabulary: a token is the index of its character; newline is one of them
     * @param context
     *            how many tokens the predictor takes, from 1
     * @param longest
     *            length at which a name is cut off, from 1
     * @throws IllegalArgumentException
     *             if there is no newline, or a length is out of its range
     */
    public NameInventor(Predictor predictor, String characters, int context, int longest) {
        if (characters.indexOf(END) < 0) {
            throw new IllegalArgumentException(
                    "The characters of names must have a newline, at which names begin and end, but are '" + characters + "'");
        }
        if (context < 1 || longest < 1) {
            throw new IllegalArgumentException(
                    "Names are made of at least 1 token of context and 1 character, but these are " + context + " and " + longest);
        }
        this.predictor = predictor;
        this.characters = characters;
        this.context = context;
        this.longest = longest;
    }

    /**
     * With a model whose parameters are in the executor's scope.
     *
     * @param executor
     *            runs it
     * @param model
     *            of a {@link CharacterTransformer}
     * @param characters
     *            the vocabulary: a token is the index of its character
     * @return invents names
     */
    public static NameInventor of(Executor executor, Model model, String characters) {
        return of(executor, model.evaluation().prune(model.inputs(), model.outputs()), model.inputs(), model.outputs(), characters);
    }

    /**
     * With a saved model, whose parameters are put into the executor's scope.
     *
     * @param executor
     *            runs it
     * @param model
     *            of a {@link CharacterTransformer}, not to be closed before the inventor is done
     * @param characters
     *            the vocabulary: a token is the index of its character
     * @return invents names
     */
    public static NameInventor of(Executor executor, InferenceModels.InferenceModel model, String characters) {
        model.parameters().forEach(executor.scope()::set);
        return of(executor, model.program(), model.feeds(), model.fetches(), characters);
    }

    private static NameInventor of(Executor executor, Program program, List<String> feeds, List<String> fetches, String characters) {
        if (feeds.size() != 1 || fetches.size() != 1 || program.global().get(feeds.getFirst()).tensor().dims().size() != 2) {
            throw new IllegalArgumentException(
                    "A model that invents names must have one input [n, context] and one output, but has " + feeds
                            + " and " + fetches);
        }
        int context = Math.toIntExact(program.global().get(feeds.getFirst()).tensor().dims().get(1));
        Plan plan = executor.compile(program, Executor.feeds(feeds.getFirst()), Executor.fetches(fetches.getFirst()));
        return new NameInventor(tokens -> plan.run(tokens).get(fetches.getFirst()), characters, context, 200);
    }

    /**
     * Invents names, all at once.
     *
     * @param count
     *            how many, from 1
     * @param temperature
     *            scores are divided by it, above 0: below 1 what is likely is chosen more often than it was seen
     * @param seed
     *            the same names for the same seed and model
     * @param exists
     *            whether a name is one that there is
     * @return so many, in no order; a name may be there twice, or empty
     */
    public List<Invention> invent(int count, double temperature, long seed, Predicate<String> exists) {
        if (count < 1 || !(temperature > 0) || Double.isInfinite(temperature)) {
            throw new IllegalArgumentException(
                    "At least 1 name is invented, at a finite temperature above 0, but these are " + count + " and " + temperature);
        }
        SplittableRandom source = new SplittableRandom(seed);
        List<SplittableRandom> randoms = new ArrayList<>();
        List<StringBuilder> texts = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            // One source for each name: the others do not depend on when one ends.
            randoms.add(source.split());
            texts.add(new StringBuilder().append(END));
        }
        List<Integer> open = IntStream.range(0, count).boxed().toList();
        while (!open.isEmpty()) {
            open = extend(open, texts, randoms, temperature);
        }
        return texts.stream().map(text -> text.toString().strip()).map(name -> new Invention(name, exists.test(name))).toList();
    }

    /** Adds one character to each of the texts that are open; gives those that still are. */
    private List<Integer> extend(List<Integer> open, List<StringBuilder> texts, List<SplittableRandom> randoms, double temperature) {
        float[] scores;
        long[] windows = new long[open.size() * context];
        for (int row = 0; row < open.size(); row++) {
            fill(windows, row, texts.get(open.get(row)));
        }
        try (Tensor tokens = Tensor.of(windows, open.size(), context); Tensor logits = predictor.logits(tokens)) {
            scores = logits.toFloatArray();
        }
        if (scores.length != windows.length * characters.length()) {
            throw new IllegalArgumentException(
                    "The model must score the " + characters.length() + " characters at each of " + windows.length
                            + " positions, but gives " + scores.length + " scores: give it the vocabulary that it was trained with");
        }
        List<Integer> still = new ArrayList<>();
        for (int row = 0; row < open.size(); row++) {
            int text = open.get(row);
            StringBuilder letters = texts.get(text);
            int position = row * context + Math.min(letters.length(), context) - 1;
            char next = characters.charAt(choose(scores, position * characters.length(), temperature, randoms.get(text).nextDouble()));
            letters.append(next);
            if (next != END && letters.length() <= longest) {
                still.add(text);
            }
        }
        return still;
    }

    /** The last tokens of a text; behind a short one are newlines, on which nothing before them depends. */
    private void fill(long[] windows, int row, StringBuilder text) {
        int from = Math.max(0, text.length() - context);
        for (int i = 0; i < context; i++) {
            windows[row * context + i] = characters.indexOf(from + i < text.length() ? text.charAt(from + i) : END);
        }
    }

    /** The index at which the cumulated probability passes a number from 0 to 1. */
    private int choose(float[] scores, int from, double temperature, double at) {
        double highest = IntStream.range(from, from + characters.length()).mapToDouble(i -> scores[i]).max().orElseThrow();
        double[] weights = IntStream.range(from, from + characters.length()).mapToDouble(i -> Math.exp((scores[i] - highest) / temperature))
                .toArray();
        double rest = at * java.util.Arrays.stream(weights).sum();
        int chosen = 0;
        while (chosen < weights.length - 1 && rest >= weights[chosen]) {
            rest -= weights[chosen++];
        }
        return chosen;
    }
}
