package io.seriatim.graph.parallel;

import java.io.Serializable;

/**
 * How ranks exchange what the optimizer needs; see {@link DataParallel#ofRank(int, int, Exchange)}. All ranks of a
 * training have the same.
 *
 * @param isBfloat16
 *            whether float32 gradients travel as bfloat16, in half the time on a network that limits the training. The
 *            error is that of {@link Communicator#allReduce(java.lang.foreign.MemorySegment,
 *            io.seriatim.tensor.DType, io.seriatim.tensor.DType)}; all ranks still have the same bits. The loss and
 *            what is fetched are not rounded
 * @param isSyncBatchNorm
 *            whether batch normalisation takes mean and variance of the rows of all ranks and all their places, as
 *            one place with the whole batch does, instead of each place's own; each such operation then waits for all
 *            of them. One process with several places can ask for it, too
 * @param isSharded
 *            whether each rank keeps the optimizer's state, such as moments, of some parameters only, about as many
 *            bytes as any other: see {@link DataParallel#owners}. It updates these and sends them to all others. The
 *            result is the same to the bit
 */
public record Exchange(boolean isBfloat16, boolean isSyncBatchNorm, boolean isSharded) implements Serializable {
    private static final long serialVersionUID = 1;

    /** Gradients travel in their own type, and nothing else is exchanged. */
    public static final Exchange PLAIN = new Exchange(false, false, false);

    /**
     * Whether gradients travel as bfloat16.
     *
     * @param value
     *            false by default
     * @return a copy
     */
    public Exchange bfloat16(boolean value) {
        return new Exchange(value, isSyncBatchNorm, isSharded);
    }

    /**
     * Whether batch normalisation takes mean and variance of the rows of all ranks and their places.
     *
     * @param value
     *            false by default
     * @return a copy
     */
    public Exchange syncBatchNorm(boolean value) {
        return new Exchange(isBfloat16, value, isSharded);
    }

    /**
     * Whether each rank keeps the optimizer's state of some parameters only.
     *
     * @param value
     *            false by default
     * @return a copy
     */
    public Exchange sharded(boolean value) {
        return new Exchange(isBfloat16, isSyncBatchNorm, value);
    }
}
