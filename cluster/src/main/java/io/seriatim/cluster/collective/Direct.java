package io.seriatim.cluster.collective;

import io.seriatim.cluster.transport.Receipt;
import io.seriatim.cluster.transport.Transport;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Floats;
import java.lang.foreign.MemorySegment;

/**
 * Sums of elements that travel as bfloat16: each rank sends its terms of a part to the part's owner, which adds them in
 * float32. On a ring each hop would round the sum of the ranks before; here each term is rounded once and the sum once,
 * for as many bytes and steps.
 *
 * <p>
 * The order is that of the ring: part k is ((x[k+1] + x[k+2]) + …) + x[k], numbers of ranks modulo their count. In each
 * step every rank sends to one and receives from one, at a distance that grows, so that no rank gets two parts at once.
 */
final class Direct {
    private final Transport transport;
    private final int rank;
    private final int ranks;
    private final float[] terms = new float[Sum.TILE];
    private final float[] sums = new float[Sum.TILE];

    Direct(Transport transport) {
        this.transport = transport;
        rank = transport.rank();
        ranks = transport.ranks();
    }

    /**
     * Sums; only this rank's part is complete afterwards. Takes the steps from 0.
     *
     * @param narrow
     *            the terms of this rank; its own part is replaced by the rounded sums
     * @param wide
     *            memory for this rank's part in float32
     */
    void reduceScatter(Parts narrow, MemorySegment wide) {
        MemorySegment own = narrow.get(rank);
        for (int step = 0; step < ranks - 1; step++) {
            int distance = step + 1;
            boolean isFirst = step == 0;
            // Received elements are added where they arrive: nothing is stored in the frame's own memory.
            transport.exchange(step, Math.floorMod(rank - distance, ranks), narrow.get(rank - distance),
                    (rank + distance) % ranks, new Receipt(own,
                            (received, _, at, bytes) -> add(received, wide, at / Short.BYTES, bytes / Short.BYTES,
                                    isFirst),
                            Short.BYTES));
        }
        finish(own, wide);
    }

    private void add(MemorySegment received, MemorySegment wide, long from, long count, boolean isFirst) {
        for (long done = 0; done < count; done += Sum.TILE) {
            int length = (int) Math.min(Sum.TILE, count - done);
            long at = (from + done) * Float.BYTES;
            Floats.load(received, DType.BFLOAT16, done * Short.BYTES, 1, terms, 0, length);
            if (!isFirst) {
                MemorySegment.copy(wide, Sum.FLOAT, at, sums, 0, length);
                for (int i = 0; i < length; i++) {
                    terms[i] = sums[i] + terms[i];
                }
            }
            MemorySegment.copy(terms, 0, wide, Sum.FLOAT, at, length);
        }
    }

    /** Adds this rank's own terms, and rounds. NaNs get the same bits in each run: see {@link Sum#unifyNaNs}. */
    private void finish(MemorySegment own, MemorySegment wide) {
        add(own, wide, 0, own.byteSize() / Short.BYTES, false);
        long count = own.byteSize() / Short.BYTES;
        for (long done = 0; done < count; done += Sum.TILE) {
            int length = (int) Math.min(Sum.TILE, count - done);
            MemorySegment.copy(wide, Sum.FLOAT, done * Float.BYTES, sums, 0, length);
            for (int i = 0; i < length; i++) {
                sums[i] = Float.isNaN(sums[i]) ? Float.NaN : sums[i];
            }
            Floats.store(own, DType.BFLOAT16, done * Short.BYTES, 1, sums, 0, length);
        }
    }
}
