package io.seriatim.graph.parallel;

import io.seriatim.tensor.DType;
import java.lang.foreign.MemorySegment;

/**
 * The ranks that train together, as operations of a program see them: collectives on memory of the host, which every
 * rank calls in the same order, with the same sizes, types and roots.
 *
 * <p>
 * Memory: a native or heap segment, of any alignment, with elements in little-endian order. Sizes are in bytes; for a
 * sum they are a multiple of the size of an element. An empty segment is allowed, and still counts as a call. The
 * segments of one call do not overlap, except where a method says so. Nobody else writes or reads them until the call
 * returns; after a failure their contents are unspecified.
 *
 * <p>
 * Sums: the order of the additions depends only on the type, the number of elements and the number of ranks. All ranks
 * get the same bits, in this run and in the next one. Floating-point types of 16 bits are added in float32.
 *
 * <p>
 * Threads: any thread may call, and a call blocks until this rank's part is done. One collective runs at a time: a
 * second call waits for the first one. Operations of a program that communicate must therefore be ordered by the
 * program, or two ranks could call in different orders.
 *
 * <p>
 * Failure is final. If a rank dies, is silent for longer than the time limit, leaves or calls another collective than
 * this one, the calls of all ranks fail with a {@link CommunicationException} that names it, and so does each later
 * call. An interrupt of the calling thread is such a failure of its own rank. An argument that is wrong on its face
 * (a size that does not divide, an unknown root) throws {@link IllegalArgumentException} before anything is sent and
 * changes nothing.
 */
public interface Communicator {
    /**
     * The number of this process among those that train together.
     *
     * @return from 0 to {@code size() - 1}
     */
    int rank();

    /**
     * The number of processes that train together.
     *
     * @return at least 1
     */
    int size();

    /**
     * Replaces the elements by their sums over all ranks.
     *
     * @param data
     *            the same number of bytes on every rank; in place
     * @param type
     *            of the elements: a floating-point type, int32 or int64; whole numbers wrap around
     * @throws CommunicationException
     *             if a rank is at fault
     * @throws IllegalArgumentException
     *             for a type that is not summed, or a size that is no multiple of an element's
     */
    void allReduce(MemorySegment data, DType type);

    /**
     * Replaces the elements by their sums over all ranks, and rounds what travels between ranks to a narrower type.
     *
     * <p>
     * With float32 elements and a wire of bfloat16, half as many bytes travel. Each element x<sub>r</sub> of a rank is
     * rounded once, the rounded elements are added in float32, and the sum is rounded once by the rank that distributes
     * it, to the nearest and ties to even. The result is therefore a bfloat16 number, with the same bits on all ranks.
     * With u = 2<sup>−8</sup>, v = 2<sup>−24</sup>, n ranks and S = |x<sub>0</sub>| + … + |x<sub>n−1</sub>|, and
     * without overflow, it differs from the exact sum by at most
     *
     * <p>
     * (2u + u²) S + (1 + u)² (n − 1) v S + 2<sup>−133</sup> (n + 1)
     *
     * <p>
     * to first order in v; the last term is that of subnormal numbers. The bound of the rounding does not grow with
     * the number of ranks. A number above the largest bfloat16, about 3.39e38, becomes infinite when it is rounded; NaN
     * stays NaN, and all NaNs of a sum have the same bits.
     *
     * <p>
     * Small messages, whose number counts and not their size, may travel without being rounded; a rank alone rounds
     * nothing.
     *
     * @param data
     *            the same number of bytes on every rank; in place
     * @param type
     *            of the elements, as for {@link #allReduce(MemorySegment, DType)}
     * @param wire
     *            of what travels: {@code type} itself, or bfloat16 for float32; the same on every rank
     * @throws CommunicationException
     *             if a rank is at fault, also one that gives another wire
     * @throws IllegalArgumentException
     *             for types that this communicator does not support together
     */
    default void allReduce(MemorySegment data, DType type, DType wire) {
        if (wire != type) {
            throw new IllegalArgumentException("this communicator does not send " + type + " as " + wire
                    + ": sum without a wire type");
        }
        allReduce(data, type);
    }

    /**
     * Computes this rank's share of the sums over all ranks: part number {@link #rank()} of {@link #size()} equal
     * parts.
     *
     * @param data
     *            the same number of bytes on every rank: that of {@code result} times {@code size()}; unchanged
     * @param result
     *            the share, overwritten
     * @param type
     *            of the elements, as for {@link #allReduce}
     * @throws CommunicationException
     *             if a rank is at fault
     * @throws IllegalArgumentException
     *             for a type that is not summed, or sizes that do not fit
     */
    void reduceScatter(MemorySegment data, MemorySegment result, DType type);

    /**
     * Collects the parts of all ranks, in the order of the ranks.
     *
     * @param part
     *            this rank's, of the same number of bytes on every rank; unchanged. It may be the part of {@code
     *            result} where it belongs
     * @param result
     *            as many bytes as {@code part} times {@code size()}, overwritten
     * @throws CommunicationException
     *             if a rank is at fault
     * @throws IllegalArgumentException
     *             if the sizes do not fit
     */
    void allGather(MemorySegment part, MemorySegment result);

    /**
     * Copies memory of one rank to all others.
     *
     * @param data
     *            the same number of bytes on every rank: read on the root, overwritten on the others
     * @param root
     *            the rank that is copied from, the same on every rank
     * @throws CommunicationException
     *             if a rank is at fault
     * @throws IllegalArgumentException
     *             if there is no such rank
     */
    void broadcast(MemorySegment data, int root);

    /**
     * Returns when every rank has called it.
     *
     * @throws CommunicationException
     *             if a rank is at fault
     */
    void barrier();
}
