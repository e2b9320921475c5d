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
 * The batches of a data set, epoch after epoch. In each epoch every example is read once, in the order of a permutation
 * that is a pure function of seed and epoch: whoever goes on {@link #from} a position reads the very batches that would
 * have come.
 *
 * <p>
 * {@link #next} returns null at the end of an epoch, and {@link #reset} begins the next one, also if the present one is
 * not over. What is {@link #endless} never returns null: the batch after an epoch's last is the next one's first. A
 * training wants that, since reading ahead does not stop at the ends of epochs; it counts: batch number n is number n
 * mod {@link #perEpoch} of epoch n / {@code perEpoch}, both from 0.
 *
 * <p>
 * The permutation is the shuffle of Fisher and Yates with numbers of SplitMix64, which starts from a mixture of seed
 * and epoch.
 */
public final class Batches implements BatchSource {
    private final Dataset dataset;
    private final int size;
    private final @Nullable Long seed;
    private final boolean shortLast;
    private final boolean endless;
    private int epoch;
    private int batch;
    private int @Nullable [] order;

    private Batches(Dataset dataset, int size, @Nullable Long seed, boolean shortLast, boolean endless, int epoch,
            int batch) {
        this.dataset = dataset;
        this.size = size;
        this.seed = seed;
        this.shortLast = shortLast;
        this.endless = endless;
        this.epoch = epoch;
        this.batch = batch;
        if (size < 1 || perEpoch() < 1) {
            throw new IllegalArgumentException(
                    "A batch must be of at least 1 example, and of no more than there are, but of " + dataset.size()
                            + " examples a batch is to have " + size + ": take smaller batches");
        }
        if (epoch < 0 || batch < 0 || batch > perEpoch()) {
            throw new IllegalArgumentException(
                    "A position must be of epoch 0 or more, and of batch 0 to " + perEpoch() + ", but is epoch "
                            + epoch + ", batch " + batch);
        }
    }

    /**
     * Shuffled batches of equal size, for training. The examples that fill no batch are left out, in each epoch others.
     *
     * @param dataset
     *            at least as many examples as a batch has
     * @param size
     *            examples of a batch, from 1
     * @param seed
     *            of the permutations
     * @return at the begin of epoch 0
     */
    public static Batches of(Dataset dataset, int size, long seed) {
        return new Batches(dataset, size, seed, false, false, 0, 0);
    }

    /**
     * All examples in their own order, for evaluation. The last batch is shorter if the examples run out.
     *
     * @param dataset
     *            of any size
     * @param size
     *            examples of a batch, from 1
     * @return at the first batch
     */
    public static Batches inOrder(Dataset dataset, int size) {
        return new Batches(dataset, size, null, true, false, 0, 0);
    }

    /**
     * The same with a last batch of each epoch that has the examples which are left, so that none is left out.
     *
     * @return at the same position
     */
    public Batches withShortLast() {
        return new Batches(dataset, size, seed, true, endless, epoch, batch);
    }

    /**
     * The same without ends of epochs.
     *
     * @return at the same position
     */
    public Batches endless() {
        return new Batches(dataset, size, seed, shortLast, true, epoch, batch);
    }

    /**
     * The same from a position.
     *
     * @param atEpoch
     *            from 0
     * @param atBatch
     *            within the epoch, from 0; {@link #perEpoch} is the epoch's end
     * @return at that position
     */
    public Batches from(int atEpoch, int atBatch) {
        return new Batches(dataset, size, seed, shortLast, endless, atEpoch, atBatch);
    }

    /**
     * How many batches an epoch has.
     *
     * @return from 1
     */
    public int perEpoch() {
        return shortLast ? Math.ceilDiv(dataset.size(), size) : dataset.size() / size;
    }

    /**
     * The next batch.
     *
     * @return for each field a tensor, [examples, shape of the field]; null at the end of an epoch, unless this is
     * endless
     * @throws IOException
     *             if a file cannot be read; the next call reads the batch after
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
