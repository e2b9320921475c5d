package io.seriatim.cluster.collective;

import io.seriatim.cluster.transport.Receipt;
import io.seriatim.cluster.transport.Transport;
import java.lang.foreign.MemorySegment;

/**
 * Collectives on a ring: in each step a rank sends to the next one and receives from the one before.
 *
 * <p>
 * Part k of a sum starts at rank k + 1 and ends at rank k, which owns it: ((x[k+1] + x[k+2]) + …) + x[k], numbers of
 * ranks modulo their count. The owner sends its bits to all others, so that all have the same.
 */
final class Ring {
    private final Transport transport;
    private final int rank;
    private final int ranks;
    private final int next;
    private final int before;

    Ring(Transport transport) {
        this.transport = transport;
        rank = transport.rank();
        ranks = transport.ranks();
        next = (rank + 1) % ranks;
        before = (rank + ranks - 1) % ranks;
    }

    /** Sums in place; only this rank's part is complete afterwards. Takes the steps from 0. */
    void reduceScatter(Parts parts, Sum sum) {
        for (int step = 0; step < ranks - 1; step++) {
            MemorySegment part = parts.get(rank - step - 2);
            transport.exchange(step, next, parts.get(rank - step - 1), before, new Receipt(part,
                    (received, into, at, bytes) -> sum.add(received, 0, into, at, into, at, bytes), sum.element()));
        }
    }

    /** Sums into other memory: this rank's part into the result, the others' into two buffers of a part's size. */
    void reduceScatter(Parts parts, MemorySegment result, MemorySegment[] buffers, Sum sum) {
        MemorySegment payload = parts.get(rank - 1);
        for (int step = 0; step < ranks - 1; step++) {
            MemorySegment own = parts.get(rank - step - 2);
            MemorySegment target = step == ranks - 2 ? result : buffers[step % 2];
            transport.exchange(step, next, payload, before, new Receipt(target,
                    (received, into, at, bytes) -> sum.add(received, 0, own, at, into, at, bytes), sum.element()));
            payload = target;
        }
    }

    /** Each rank has its own part; all have all parts afterwards. Takes the steps from the given one. */
    void allGather(Parts parts, int firstStep) {
        for (int step = 0; step < ranks - 1; step++) {
            transport.exchange(firstStep + step, next, parts.get(rank - step), before,
                    Receipt.store(parts.get(rank - step - 1)));
        }
    }
}
