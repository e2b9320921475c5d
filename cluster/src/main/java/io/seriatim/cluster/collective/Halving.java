package io.seriatim.cluster.collective;

import io.seriatim.cluster.transport.Receipt;
import io.seriatim.cluster.transport.Transport;
import java.lang.foreign.MemorySegment;

/**
 * Sums over all ranks by exchanges between partners whose distance doubles, for counts of ranks that are powers of two;
 * of other counts, the first ranks begin in pairs: the odd one gives its elements to the even one, and gets the result.
 *
 * <p>
 * The order of a sum is a balanced tree over the ranks that remain, neighbours first: ((p0 + p1) + (p2 + p3)) + …,
 * where p of a pair is x[2i] + x[2i+1]. An addition does not depend on the order of its two operands.
 *
 * <p>
 * R. Thakur, R. Rabenseifner, W. Gropp: Optimization of Collective Communication Operations in MPICH, 2005.
 */
final class Halving {
    /** The step of the first exchange of the pairs, and that of the last one. */
    private static final int FOLD = 0;
    private static final int UNFOLD = 1;
    private static final int FIRST = 2;

    private final Transport transport;
    private final int rank;
    private final int remaining;
    private final int pairs;
    /** The number among those that remain; -1 for the odd one of a pair. */
    private final int position;

    Halving(Transport transport) {
        this.transport = transport;
        rank = transport.rank();
        remaining = Integer.highestOneBit(transport.ranks());
        pairs = transport.ranks() - remaining;
        if (rank >= 2 * pairs) {
            position = rank - pairs;
        } else {
            position = rank % 2 == 0 ? rank / 2 : -1;
        }
    }

    private int rankOf(int other) {
        return other < pairs ? 2 * other : other + pairs;
    }

    /** Sums in place; partners exchange everything. Returns which of the two has the result; the other is scratch. */
    MemorySegment doubling(MemorySegment data, MemorySegment scratch, Sum sum) {
        fold(data, sum);
        MemorySegment own = data;
        if (position >= 0) {
            MemorySegment other = scratch;
            int step = FIRST;
            for (int mask = 1; mask < remaining; mask <<= 1) {
                int partner = rankOf(position ^ mask);
                MemorySegment mine = own;
                transport.exchange(step++, partner, mine, partner, new Receipt(other,
                        (received, into, at, bytes) -> sum.add(received, 0, mine, at, into, at, bytes), sum.element()));
                own = other;
                other = mine;
            }
            // Each rank has computed the sum itself.
            sum.unifyNaNs(own);
        }
        unfold(own);
        return own;
    }

    /** Sums in place; partners exchange halves of what they are responsible for. */
    void halving(MemorySegment data, Sum sum) {
        fold(data, sum);
        if (position >= 0) {
            int element = sum.element();
            long[] starts = new long[Integer.SIZE];
            long[] ends = new long[Integer.SIZE];
            ends[0] = data.byteSize() / element;
            int depth = 0;
            for (int mask = 1; mask < remaining; mask <<= 1) {
                long middle = starts[depth] + (ends[depth] - starts[depth]) / 2;
                boolean isLower = (position & mask) == 0;
                starts[depth + 1] = isLower ? starts[depth] : middle;
                ends[depth + 1] = isLower ? middle : ends[depth];
                MemorySegment kept = slice(data, starts[depth + 1], ends[depth + 1], element);
                MemorySegment given = isLower
                        ? slice(data, middle, ends[depth], element)
                        : slice(data, starts[depth], middle, element);
                int partner = rankOf(position ^ mask);
                transport.exchange(FIRST + depth, partner, given, partner, new Receipt(kept,
                        (received, into, at, bytes) -> sum.add(received, 0, into, at, into, at, bytes), element));
                depth++;
            }
            int step = FIRST + depth;
            for (int mask = remaining >> 1; mask > 0; mask >>= 1) {
                MemorySegment kept = slice(data, starts[depth], ends[depth], element);
                boolean isLower = (position & mask) == 0;
                MemorySegment other = isLower
                        ? slice(data, ends[depth], ends[depth - 1], element)
                        : slice(data, starts[depth - 1], starts[depth], element);
                int partner = rankOf(position ^ mask);
                transport.exchange(step++, partner, kept, partner, Receipt.store(other));
                depth--;
            }
        }
        unfold(data);
    }

    private static MemorySegment slice(MemorySegment data, long start, long end, int element) {
        return data.asSlice(start * element, (end - start) * element);
    }

    private void fold(MemorySegment data, Sum sum) {
        if (rank < 2 * pairs && position < 0) {
            transport.exchange(FOLD, rank - 1, data, Transport.NOBODY, Receipt.store(MemorySegment.NULL));
        } else if (rank < 2 * pairs) {
            transport.exchange(FOLD, Transport.NOBODY, MemorySegment.NULL, rank + 1, new Receipt(data,
                    (received, into, at, bytes) -> sum.add(into, at, received, 0, into, at, bytes), sum.element()));
        }
    }

    private void unfold(MemorySegment result) {
        if (rank < 2 * pairs && position < 0) {
            transport.exchange(UNFOLD, Transport.NOBODY, MemorySegment.NULL, rank - 1, Receipt.store(result));
        } else if (rank < 2 * pairs) {
            transport.exchange(UNFOLD, rank + 1, result, Transport.NOBODY, Receipt.store(MemorySegment.NULL));
        }
    }
}
