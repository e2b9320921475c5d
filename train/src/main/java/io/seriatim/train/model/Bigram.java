package io.seriatim.train.model;

import io.seriatim.tensor.Tensor;
import io.seriatim.train.data.Dataset;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * A model that knows only the character before: how often each follows each in the training text. What a network has learned beyond that is more than pairs of characters. Immutable.
 *
 * <p>
 * p(next | before) = (count(before, next) + s) / (count(before) + s·characters), Laplace's rule for s = 1.
 */
public final class Bigram {
    private static final int BATCH = 256;
    private final int vocabulary;
    private final double smoothing;
    private final long[] pairs;
    private final long[] befores;

    private Bigram(int vocabulary, double smoothing, long[] pairs) {
        this.vocabulary = vocabulary;
        this.smoothing = smoothing;
        this.pairs = pairs;
        this.befores = new long[vocabulary];
        for (int i = 0; i < pairs.length; i++) {
            befores[i / vocabulary] += pairs[i];
        }
    }

    private static long[] noPairs(int vocabulary, double smoothing) {
        if (vocabulary < 1 || !(smoothing > 0)) {
            throw new IllegalArgumentException(
                    "A bigram model needs at least 1 character and a smoothing above 0, but has " + vocabulary + " and "
                            + smoothing);
        }
        return new long[Math.multiplyExact(vocabulary, vocabulary)];
    }

    private static int pair(int vocabulary, long before, long next) {
        if (before < 0 || before >= vocabulary || next < 0 || next >= vocabulary) {
            throw new IllegalArgumentException("Characters of a bigram model must be from 0 to " + (vocabulary - 1) + ", but there is "
                    + (before < 0 || before >= vocabulary ? before : next) + ": give it the vocabulary of the training text");
        }
        return (int) (before * vocabulary + next);
    }

    /**
     * Counts the pairs of a text.
     *
     * @param tokens
     *            of the text, each from 0 to vocabulary − 1
     * @param vocabulary
     *            how many characters there are, from 1
     * @param smoothing
     *            is added to each count, above 0
     * @return the model
     * @throws IllegalArgumentException
     *             if a token is out of range
     */
    public static Bigram of(int[] tokens, int vocabulary, double smoothing) {
        long[] pairs = noPairs(vocabulary, smoothing);
        for (int i = 1; i < tokens.length; i++) {
            pairs[pair(vocabulary, tokens[i - 1], tokens[i])]++;
        }
        return new Bigram(vocabulary, smoothing, pairs);
    }

    /**
     * Counts the pairs of tokens and labels, smoothed by 1.
     *
     * @param training
     *            the first two fields are tokens and as many labels, each the token after
     * @param vocabulary
     *            how many characters there are, from 1
     * @return the model
     * @throws IllegalArgumentException
     *             if a token is out of range
     * @throws IOException
     *             if the data cannot be read
     */
    public static Bigram of(Dataset training, int vocabulary) throws IOException {
        long[] pairs = noPairs(vocabulary, 1);
        forEach(training, (tokens, labels) -> {
            for (int i = 0; i < tokens.length; i++) {
                pairs[pair(vocabulary, tokens[i], labels[i])]++;
            }
        });
        return new Bigram(vocabulary, 1, pairs);
    }

    private interface Texts {
        void accept(long[] tokens, long[] labels);
    }

    private static void forEach(Dataset data, Texts texts) throws IOException {
        for (int from = 0; from < data.size(); from += BATCH) {
            List<Tensor> batch = data.batch(IntStream.range(from, Math.min(data.size(), from + BATCH)).toArray());
            try {
                long[] tokens = batch.get(0).toLongArray();
                long[] labels = batch.get(1).toLongArray();
                if (tokens.length != labels.length) {
                    throw new IllegalArgumentException(
                            "A bigram model needs a label for each token, but a batch has " + batch.get(0).shape() + " tokens and "
                                    + batch.get(1).shape() + " labels");
                }
                texts.accept(tokens, labels);
            } finally {
                batch.forEach(Tensor::close);
            }
        }
    }

    /**
     * How likely a character follows another.
     *
     * @param before
     *            from 0 to vocabulary − 1
     * @param next
     *            from 0 to vocabulary − 1
     * @return above 0, up to 1; over all next ones the sum is 1
     */
    public double probability(int before, int next) {
        return (pairs[pair(vocabulary, before, next)] + smoothing) / (befores[before] + smoothing * vocabulary);
    }

    /**
     * The mean cross entropy of a text's characters from its second on.
     *
     * @param tokens
     *            at least two, each from 0 to vocabulary − 1
     * @return nats per character
     */
    public double loss(int[] tokens) {
        if (tokens.length < 2) {
            throw new IllegalArgumentException("A bigram model judges texts of at least 2 characters, but this has " + tokens.length);
        }
        return loss(Arrays.stream(tokens, 0, tokens.length - 1).asLongStream().toArray(),
                Arrays.stream(tokens, 1, tokens.length).asLongStream().toArray()) / (tokens.length - 1);
    }

    /**
     * The mean cross entropy of all labels, which compares with the loss of a network on the same data.
     *
     * @param data
     *            as that for training
     * @return nats per character
     * @throws IOException
     *             if the data cannot be read
     */
    public double loss(Dataset data) throws IOException {
        double[] sum = new double[2];
        forEach(data, (tokens, labels) -> {
            sum[0] += loss(tokens, labels);
            sum[1] += tokens.length;
        });
        return sum[0] / sum[1];
    }

    private double loss(long[] tokens, long[] labels) {
        double sum = 0;
        for (int i = 0; i < tokens.length; i++) {
            pair(vocabulary, tokens[i], labels[i]);
            sum -= Math.log(probability((int) tokens[i], (int) labels[i]));
        }
        return sum;
    }
}
