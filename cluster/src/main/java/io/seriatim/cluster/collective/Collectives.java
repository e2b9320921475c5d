package io.seriatim.cluster.collective;

import io.seriatim.cluster.transport.Call;
import io.seriatim.cluster.transport.Receipt;
import io.seriatim.cluster.transport.Transport;
import io.seriatim.graph.parallel.CommunicationException;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Floats;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;

/**
 * The collectives on a transport, with arguments that were checked. Floats of 16 bits are widened, summed as float32
 * and rounded once, when the sum is complete.
 *
 * <p>
 * All fields but the transport are guarded by the transport's lock, which is held from begin to end.
 */
public final class Collectives {
    private static final int PAGE = 4096;
    /** The size up to which sums are not rounded on the way: latency decides, and nothing would be gained. */
    private static final long FEW_BYTES = 16 << 10;
    /** Which scratch memory is for what: nothing uses one for two purposes at a time. */
    private static final int STAGED = 0;
    private static final int STAGED_RESULT = 1;
    private static final int WIDE = 2;
    private static final int FIRST_BUFFER = 3;
    private static final int SECOND_BUFFER = 4;
    private static final int NARROW = 5;
    private static final int BUFFERS = 6;

    private final Transport transport;
    private final int rank;
    private final int ranks;
    private final Ring ring;
    private final Halving halving;
    private final Direct direct;
    private final Map<DType, Sum> sums = new EnumMap<>(DType.class);
    private final MemorySegment[] scratch = new MemorySegment[BUFFERS];
    private final float[] tile = new float[Sum.TILE];

    /** What is done between begin and end. */
    private interface Body {
        void run();
    }

    /**
     * Collectives of one rank.
     *
     * @param transport
     *            open
     */
    public Collectives(Transport transport) {
        this.transport = transport;
        rank = transport.rank();
        ranks = transport.ranks();
        ring = new Ring(transport);
        halving = new Halving(transport);
        direct = new Direct(transport);
        Arrays.fill(scratch, MemorySegment.NULL);
    }

    /**
     * Whether elements of a type can be summed.
     *
     * @param type
     *            any
     * @throws IllegalArgumentException
     *             if they cannot
     */
    public static void requireSum(DType type) {
        Sum.of(type);
    }

    private void run(Call call, Body body) {
        transport.begin(call);
        try {
            body.run();
        } catch (CommunicationException e) {
            throw e;
        } catch (RuntimeException e) {
            throw transport.fail(e);
        } finally {
            transport.end();
        }
    }

    private MemorySegment scratch(int purpose, long bytes) {
        if (scratch[purpose].byteSize() < bytes) {
            // Collected when it is replaced: it may be larger than what is free until then.
            scratch[purpose] = MemorySegment.NULL;
            scratch[purpose] = Arena.ofAuto().allocate(Math.max(bytes, PAGE), Long.BYTES);
        }
        return scratch[purpose].asSlice(0, bytes);
    }

    /** Sockets move bytes of native memory only. */
    private MemorySegment staged(MemorySegment data, int purpose) {
        return data.isNative() ? data : scratch(purpose, data.byteSize()).copyFrom(data);
    }

    private static void unstage(MemorySegment staged, MemorySegment data) {
        if (!data.isNative()) {
            data.copyFrom(staged);
        }
    }

    private Sum sum(DType type) {
        return sums.computeIfAbsent(type, Sum::of);
    }

    private static String detail(MemorySegment data, DType type) {
        return data.byteSize() + " bytes of " + type;
    }

    /**
     * Sums over all ranks.
     *
     * @param data
     *            whole elements
     * @param type
     *            that can be summed
     */
    public void allReduce(MemorySegment data, DType type) {
        Algorithm algorithm = type.isHalf()
                ? Algorithm.chooseForHalves(data.byteSize(), ranks)
                : Algorithm.choose(data.byteSize(), ranks);
        run(new Call("all-reduce", detail(data, type)), () -> {
            if (ranks == 1) {
                return;
            }
            MemorySegment memory = staged(data, STAGED);
            Sum sum = sum(type);
            if (type.isHalf()) {
                allReduceHalves(memory, type, sum, algorithm);
            } else if (algorithm == Algorithm.RING) {
                Parts parts = new Parts(memory, sum.element(), ranks);
                ring.reduceScatter(parts, sum);
                ring.allGather(parts, ranks - 1);
            } else {
                sumByHalving(memory, sum, algorithm);
            }
            unstage(memory, data);
        });
    }

    /**
     * Sums float32 over all ranks; what travels is rounded to bfloat16, except in small messages.
     *
     * @param data
     *            whole elements of float32
     */
    public void allReduceAsBfloat16(MemorySegment data) {
        run(new Call("all-reduce", detail(data, DType.FLOAT32) + " as " + DType.BFLOAT16), () -> {
            if (ranks == 1) {
                return;
            }
            MemorySegment memory = staged(data, STAGED);
            if (data.byteSize() <= FEW_BYTES) {
                sumByHalving(memory, sum(DType.FLOAT32), Algorithm.DOUBLING);
            } else {
                MemorySegment halves = scratch(NARROW, memory.byteSize() / Float.BYTES * Short.BYTES);
                narrow(memory, halves, DType.BFLOAT16);
                Parts narrow = new Parts(halves, Short.BYTES, ranks);
                direct.reduceScatter(narrow, new Parts(memory, Float.BYTES, ranks).get(rank));
                ring.allGather(narrow, ranks - 1);
                widen(halves, DType.BFLOAT16, memory);
            }
            unstage(memory, data);
        });
    }

    private void sumByHalving(MemorySegment memory, Sum sum, Algorithm algorithm) {
        if (algorithm == Algorithm.HALVING) {
            halving.halving(memory, sum);
        } else {
            MemorySegment result = halving.doubling(memory, scratch(FIRST_BUFFER, memory.byteSize()), sum);
            if (result.address() != memory.address()) {
                memory.copyFrom(result);
            }
        }
    }

    private void allReduceHalves(MemorySegment memory, DType type, Sum sum, Algorithm algorithm) {
        MemorySegment wide = widen(memory, type);
        if (algorithm == Algorithm.RING) {
            Parts parts = new Parts(wide, Float.BYTES, ranks);
            ring.reduceScatter(parts, sum);
            Parts narrow = new Parts(memory, type.bytes(), ranks);
            narrow(parts.get(rank), narrow.get(rank), type);
            ring.allGather(narrow, ranks - 1);
        } else {
            sumByHalving(wide, sum, algorithm);
            narrow(wide, memory, type);
        }
    }

    private MemorySegment widen(MemorySegment memory, DType type) {
        long count = memory.byteSize() / type.bytes();
        MemorySegment wide = scratch(WIDE, count * Float.BYTES);
        widen(memory, type, wide);
        return wide;
    }

    private void widen(MemorySegment memory, DType type, MemorySegment wide) {
        long count = memory.byteSize() / type.bytes();
        for (long done = 0; done < count; done += tile.length) {
            int length = (int) Math.min(tile.length, count - done);
            Floats.load(memory, type, done * type.bytes(), 1, tile, 0, length);
            MemorySegment.copy(tile, 0, wide, Sum.FLOAT, done * Float.BYTES, length);
        }
    }

    private void narrow(MemorySegment wide, MemorySegment memory, DType type) {
        long count = memory.byteSize() / type.bytes();
        for (long done = 0; done < count; done += tile.length) {
            int length = (int) Math.min(tile.length, count - done);
            MemorySegment.copy(wide, Sum.FLOAT, done * Float.BYTES, tile, 0, length);
            Floats.store(memory, type, done * type.bytes(), 1, tile, 0, length);
        }
    }

    /**
     * Sums over all ranks; each gets one part.
     *
     * @param data
     *            as many parts as ranks
     * @param result
     *            one part
     * @param type
     *            that can be summed
     */
    public void reduceScatter(MemorySegment data, MemorySegment result, DType type) {
        run(new Call("reduce-scatter", detail(data, type)), () -> {
            if (ranks == 1) {
                result.copyFrom(data);
                return;
            }
            MemorySegment memory = staged(data, STAGED);
            MemorySegment target = result.isNative() ? result : scratch(STAGED_RESULT, result.byteSize());
            Sum sum = sum(type);
            if (type.isHalf()) {
                Parts parts = new Parts(widen(memory, type), Float.BYTES, ranks);
                ring.reduceScatter(parts, sum);
                narrow(parts.get(rank), target, type);
            } else {
                MemorySegment[] buffers = {scratch(FIRST_BUFFER, result.byteSize()),
                        scratch(SECOND_BUFFER, result.byteSize())};
                ring.reduceScatter(new Parts(memory, sum.element(), ranks), target, buffers, sum);
            }
            unstage(target, result);
        });
    }

    /**
     * Collects parts.
     *
     * @param part
     *            this rank's
     * @param result
     *            all parts
     */
    public void allGather(MemorySegment part, MemorySegment result) {
        run(new Call("all-gather", part.byteSize() + " bytes a rank"), () -> {
            long size = part.byteSize();
            MemorySegment memory = result.isNative() ? result : scratch(STAGED_RESULT, result.byteSize());
            memory.asSlice(rank * size, size).copyFrom(part);
            ring.allGather(new Parts(memory, 1, ranks), 0);
            unstage(memory, result);
        });
    }

    /**
     * Copies from one rank to all, along a binomial tree: each rank that has the bytes sends them on.
     *
     * @param data
     *            the bytes
     * @param root
     *            the rank that has them
     */
    public void broadcast(MemorySegment data, int root) {
        run(new Call("broadcast", data.byteSize() + " bytes from rank " + root), () -> {
            MemorySegment memory = staged(data, STAGED);
            int position = Math.floorMod(rank - root, ranks);
            int mask = 1;
            while (mask < ranks && (position & mask) == 0) {
                mask <<= 1;
            }
            if (position > 0) {
                transport.exchange(position, Transport.NOBODY, MemorySegment.NULL, (position - mask + root) % ranks,
                        Receipt.store(memory));
            }
            for (int distance = mask >> 1; distance > 0; distance >>= 1) {
                int child = position + distance;
                if (child < ranks) {
                    transport.exchange(child, (child + root) % ranks, memory, Transport.NOBODY,
                            Receipt.store(MemorySegment.NULL));
                }
            }
            if (position > 0) {
                unstage(memory, data);
            }
        });
    }

    /** Waits for all ranks: in each step, a rank hears of twice as many as before. */
    public void barrier() {
        run(new Call("barrier", ""), () -> {
            int step = 0;
            for (int distance = 1; distance < ranks; distance <<= 1) {
                transport.exchange(step++, (rank + distance) % ranks, MemorySegment.NULL,
                        Math.floorMod(rank - distance, ranks), Receipt.store(MemorySegment.NULL));
            }
        });
    }
}
