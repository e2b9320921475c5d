package io.seriatim.graph.parallel;

/**
 * How ranks exchange what the optimizer needs; see {@link DataParallel#ofRank(int, int, Exchange)}. All ranks of a
 * training have the same.
 *
 * @param isBfloat16
 *            whether float32 gradients travel as bfloat16, in half the time on a network that limits the training. The
 *            error is that of {@link Communicator#allReduce(java.lang.foreign.MemorySegment,
 *            io.seriatim.tensor.DType, io.seriatim.tensor.DType)}; all ranks still have the same bits. The loss and
 *            what is fetched are not rounded
 */
public record Exchange(boolean isBfloat16) {
    /** Gradients travel in their own type. */
    public static final Exchange PLAIN = new Exchange(false);

    /**
     * Whether gradients travel as bfloat16.
     *
     * @param value
     *            false by default
     * @return a copy
     */
    public Exchange bfloat16(boolean value) {
        return new Exchange(value);
    }
}
