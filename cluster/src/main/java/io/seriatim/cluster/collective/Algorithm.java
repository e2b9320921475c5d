package io.seriatim.cluster.collective;

/** How sums over all ranks are computed. */
enum Algorithm {
    /** Partners exchange everything: fewest steps, most bytes. */
    DOUBLING,
    /** Partners exchange halves, then quarters; and back. */
    HALVING,
    /**
     * Each rank talks to two neighbours: most steps, fewest bytes, and the traffic of a step crosses each link once.
     */
    RING;

    private static final long FEW_BYTES = 16 << 10;
    private static final long MANY_BYTES = 512 << 10;
    private static final int FEW_RANKS = 3;

    /** The choice depends on what all ranks know, so that they agree without a word, and so that sums repeat. */
    static Algorithm choose(long bytes, int ranks) {
        if (bytes <= FEW_BYTES) {
            return DOUBLING;
        }
        return bytes <= MANY_BYTES && ranks > FEW_RANKS ? HALVING : RING;
    }
}
