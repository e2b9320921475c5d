package io.seriatim.train.data;

import io.seriatim.executor.BatchSource;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The batches of a data set, epoch after epoch. Each epoch reads every example once, in the order of a permutation that
 * is a pure function of seed and epoch. So reading {@link #from} a position yields the same batches as reading from the
 * start.
 *
 * <p>
 * {@link #next} returns null at the end of an epoch, and {@link #reset} begins the next epoch, even if the current one
 * is not complete. {@link #endless} batches never return null: the last batch of an epoch is followed by the first
 * batch of the next one. A training uses this, because prefetching does not stop at the ends of epochs; batch n is
 * batch n mod {@link #perEpoch} of epoch n / {@code perEpoch}, counted from 0.
 *
 * <p>
 * The permutation is a Fisher–Yates shuffle with random numbers of SplitMix64, seeded by a mix of seed and epoch.
 */
public final class Batches implements BatchSource {
    private final Dataset dataset;
    private final int size;
    private final @Nullable Long seed;
    private final boolean shortLast;
    private final boolean endless;
    private final int most;
    private int epoch;
    private int batch;
    private int @Nullable [] order;

    private Batches(Dataset dataset, int size, @Nullable Long seed, boolean shortLast, boolean endless, int most,
            int epoch, int batch) {
        this.dataset = dataset;
        this.size = size;
        this.seed = seed;
        this.shortLast = shortLast;
        this.endless = endless;
        this.most = most;
        this.epoch = epoch;
        this.batch = batch;
        if (size < 1 || perEpoch() < 1) {
            throw new IllegalArgumentException(
                    "The size of a batch must be from 1 to the number of examples, " + dataset.size() + ", but is "
                            + size
                            + ": take smaller batches");
        }
        if (epoch < 0 || batch < 0 || batch > perEpoch()) {
            throw new IllegalArgumentException(
                    "A position must be of epoch 0 or more, and of batch 0 to " + perEpoch() + ", but is epoch "
                            + epoch + ", batch " + batch);
        }
    }

    /**
     * Returns shuffled batches of equal size, for training. The examples that do not fill a batch are left out; they
     * differ from epoch to epoch.
     *
     * @param dataset
     *            a data set with at least as many examples as a batch
     * @param size
     *            the number of examples of a batch, at least 1
     * @param seed
     *            the seed of the permutations
     * @return batches at the start of epoch 0
     */
    public static Batches of(Dataset dataset, int size, long seed) {
        return new Batches(dataset, size, seed, false, false, Integer.MAX_VALUE, 0, 0);
    }

    /**
     * Returns batches of all examples in their original order, for evaluation. The last batch may be shorter.
     *
     * @param dataset
     *            a data set of any size
     * @param size
     *            the number of examples of a batch, at least 1
     * @return batches at the first one
     */
    public static Batches inOrder(Dataset dataset, int size) {
        return new Batches(dataset, size, null, true, false, Integer.MAX_VALUE, 0, 0);
    }

    /**
     * Returns these batches with a shorter last batch in each epoch for the remaining examples.
     *
     * @return batches at the same position
     */
    public Batches withShortLast() {
        return new Batches(dataset, size, seed, true, endless, most, epoch, batch);
    }

    /**
     * Returns these batches without ends of epochs.
     *
     * @return batches at the same position
     */
    public Batches endless() {
        return new Batches(dataset, size, seed, shortLast, true, most, epoch, batch);
    }

    /**
     * Returns these batches with epochs of fewer batches, such as those of the rank with the fewest examples. The
     * examples that are left out differ from epoch to epoch, as far as the order does.
     *
     * @param batches
     *            the most batches of an epoch, at least 1
     * @return batches at the same position
     */
    public Batches atMost(int batches) {
        return new Batches(dataset, size, seed, shortLast, endless, batches, epoch, batch);
    }

    /**
     * Returns these batches from a given position.
     *
     * @param atEpoch the epoch, from 0
     * @param atBatch
     *            the batch in the epoch, from 0; {@link #perEpoch} is the end of the epoch
     * @return batches at that position
     */
    public Batches from(int atEpoch, int atBatch) {
        return new Batches(dataset, size, seed, shortLast, endless, most, atEpoch, atBatch);
    }

    /**
     * Returns the number of batches of an epoch.
     *
     * @return at least 1
     */
    public int perEpoch() {
        return Math.min(most, shortLast ? Math.ceilDiv(dataset.size(), size) : dataset.size() / size);
    }

    /**
     * Returns the next batch.
     *
     * @return one tensor for each field, [examples, shape of the field]; null at the end of an epoch, unless the
     * batches are endless
     * @throws IOException
     *             if a file cannot be read; the next call reads the following batch
     */
    @Override
    public @Nullable List<Tensor> next() throws IOException {
        if (batch == perEpoch()) {
            if (!endless) {
                return null;
            }
            reset();
        }
        int begin = batch++ * size;
        int[] examples = Arrays.copyOfRange(order(), begin, Math.min(begin + size, dataset.size()));
        return dataset.batch(examples);
    }

    /** Begins the next epoch. */
    @Override
    public void reset() {
        epoch = Math.addExact(epoch, 1);
        batch = 0;
        order = seed == null ? order : null;
    }

    private int[] order() {
        int[] known = order;
        if (known == null) {
            known = seed == null
                    ? IntStream.range(0, dataset.size()).toArray()
                    : Permutation.of(seed, epoch, dataset.size());
            order = known;
        }
        return Objects.requireNonNull(known);
    }
}
