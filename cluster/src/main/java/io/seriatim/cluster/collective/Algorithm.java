package io.seriatim.cluster.collective;

/**
 * How sums over all ranks are computed.
 *
 * <p>
 * The way is chosen by the times that all three would take on a network where a message of n bytes takes 1 + n ÷ 98,304
 * latencies. Networks differ in latency and bandwidth much more than in their product, the bytes that are
 * sent during a latency: 125 kB at 1 Gbit/s and 1 ms, 62 kB at 10 Gbit/s and 50 µs, 125 kB at 100 Gbit/s and 10 µs,
 * and about 50 kB between processes of one machine. A fixed value therefore serves all of them, and the choice depends
 * on nothing but the size and the number of ranks, which all ranks know: a measurement would differ from rank to rank,
 * and from run to run, and so would the order of the sum.
 */
enum Algorithm {
    /** Partners exchange everything: fewest steps, most bytes. */
    DOUBLING,
    /** Partners exchange halves, then quarters; and back. */
    HALVING,
    /** Each rank talks to two neighbours: most steps, and few bytes for any number of ranks. */
    RING;

    /** The bytes that a network moves during the latency of a message. */
    private static final double IN_FLIGHT = 96 << 10;
    /** The time to add a byte, relative to the time to move it. */
    private static final double ADDING = 0.25;
    /** Bytes that are moved, added, and moved back. */
    private static final double THERE_AND_BACK = 2 + ADDING;
    /** The same if they are moved back as half as many: floats of 16 bits are rounded when their sum is complete. */
    private static final double HALF_BACK = 1.5 + ADDING;

    /**
     * Chooses the way of a sum. The arithmetic is that of IEEE 754 on any machine, so that all ranks agree.
     *
     * @param bytes
     *            of a rank
     * @param ranks
     *            at least 2
     */
    static Algorithm choose(long bytes, int ranks) {
        return choose(bytes, ranks, THERE_AND_BACK);
    }

    /** Chooses the way of a sum of floats of 16 bits, which are float32 while they are summed. */
    static Algorithm chooseForHalves(long bytes, int ranks) {
        return choose(2 * bytes, ranks, HALF_BACK);
    }

    private static Algorithm choose(long bytes, int ranks, double aroundTheRing) {
        double size = bytes / IN_FLIGHT;
        int remaining = Integer.highestOneBit(ranks);
        int steps = Integer.numberOfTrailingZeros(remaining);
        // Ranks beyond a power of two begin and end in pairs.
        double pairs = remaining == ranks ? 0 : 2 + THERE_AND_BACK * size;
        double doubling = pairs + steps * (1 + (1 + ADDING) * size);
        double halving = pairs + 2.0 * steps + THERE_AND_BACK * size * (remaining - 1) / remaining;
        double ring = 2.0 * (ranks - 1) + aroundTheRing * size * (ranks - 1) / ranks;
        if (doubling < Math.min(halving, ring)) {
            return DOUBLING;
        }
        return halving < ring ? HALVING : RING;
    }
}
