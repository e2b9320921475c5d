package io.seriatim.train.model;

import io.seriatim.tensor.Tensor;
import io.seriatim.train.data.Dataset;
import io.seriatim.train.data.Tokens;
import java.io.IOException;
import java.util.List;
import java.util.stream.IntStream;

/**
 * A bigram model of characters, from the frequencies of pairs in the training text. It is a baseline for networks: a
 * lower loss shows that a network has learned more than pairs of characters. Immutable.
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
            throw new IllegalArgumentException(
                    "Characters of a bigram model must be from 0 to " + (vocabulary - 1) + ", but there is "
                            + (before < 0 || before >= vocabulary ? before : next)
                            + ": give it the vocabulary of the training text");
        }
        return (int) (before * vocabulary + next);
    }

    /**
     * Counts the pairs of a text.
     *
     * @param text
     *            the training text, each token from 0 to vocabulary − 1
     * @param vocabulary
     *            the number of characters, at least 1
     * @param smoothing
     *            the number added to each count, greater than 0
     * @return the model
     * @throws IllegalArgumentException
     *             if a token is out of range
     */
    public static Bigram of(Tokens text, int vocabulary, double smoothing) {
        long[] pairs = noPairs(vocabulary, smoothing);
        for (int i = 1; i < text.length(); i++) {
            pairs[pair(vocabulary, text.get(i - 1), text.get(i))]++;
        }
        return new Bigram(vocabulary, smoothing, pairs);
    }

    /**
     * Returns the probability that a character follows another.
     *
     * @param before
     *            the first character, from 0 to vocabulary − 1
     * @param next
     *            the second character, from 0 to vocabulary − 1
     * @return the probability, greater than 0; the sum over all {@code next} is 1
     */
    public double probability(long before, long next) {
        return (pairs[pair(vocabulary, before, next)] + smoothing) / (befores[(int) before] + smoothing * vocabulary);
    }

    /**
     * Returns the mean cross entropy of the characters of a text, without the first one.
     *
     * @param text
     *            at least two tokens, each from 0 to vocabulary − 1
     * @return nats per character
     */
    public double loss(Tokens text) {
        if (text.length() < 2) {
            throw new IllegalArgumentException(
                    "A bigram model evaluates texts of at least 2 characters, but this has " + text.length());
        }
        double sum = 0;
        for (int i = 1; i < text.length(); i++) {
            sum -= Math.log(probability(text.get(i - 1), text.get(i)));
        }
        return sum / (text.length() - 1);
    }

    /**
     * Returns the mean cross entropy of all labels, which is comparable to the loss of a network on the same data.
     *
     * @param data
     *            a data set whose first two fields are tokens and labels, where each label is the following token
     * @return nats per character
     * @throws IOException
     *             if the data cannot be read
     */
    public double loss(Dataset data) throws IOException {
        double sum = 0;
        long count = 0;
        for (int from = 0; from < data.size(); from += BATCH) {
            List<Tensor> batch = data.batch(IntStream.range(from, Math.min(data.size(), from + BATCH)).toArray());
            long[] tokens = batch.get(0).toLongArray();
            long[] labels = batch.get(1).toLongArray();
            batch.forEach(Tensor::close);
            if (tokens.length != labels.length) {
                throw new IllegalArgumentException(
                        "A bigram model evaluates as many labels as tokens, but a batch has " + labels.length + " and "
                                + tokens.length);
            }
            for (int i = 0; i < tokens.length; i++) {
                sum -= Math.log(probability(tokens[i], labels[i]));
            }
            count += tokens.length;
        }
        return sum / count;
    }
}
