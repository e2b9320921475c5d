package io.seriatim.benchmarks.cluster;

import java.util.List;

/**
 * How long a step of data-parallel training takes: the time line of a rank's computation, and a network in which a
 * message of n bytes takes latency + n ÷ bandwidth.
 *
 * <p>
 * A bucket is exchanged when backward has computed it and the bucket before it is exchanged. What follows the last
 * exchange follows it by as much as it was measured to. Each rank has the measured part of the batch (weak scaling),
 * all take the same time, and messages of different pairs do not hinder each other.
 *
 * @param latency
 *            nanoseconds of a message without content
 * @param bandwidth
 *            bytes in a nanosecond of a rank, in each direction
 */
record ScaleModel(double latency, double bandwidth) {
    /** How a sum over all ranks is computed, as in {@code io.seriatim.cluster.collective}. */
    enum Exchange {
        /** Each rank talks to two neighbours. */
        RING,
        /** Partners exchange halves, then quarters, and back. */
        HALVING,
        /** Partners exchange everything. */
        DOUBLING
    }

    /**
     * An exchange of a step.
     *
     * @param bytes
     *            the size of the sum
     * @param ready
     *            nanoseconds from the begin of the step until it is computed
     */
    record Bucket(long bytes, double ready) {
    }

    /**
     * The time line of a step.
     *
     * @param buckets
     *            in the order of their exchange
     * @param rest
     *            nanoseconds from the end of the last exchange to that of the step
     */
    record Step(List<Bucket> buckets, double rest) {
        Step {
            buckets = List.copyOf(buckets);
        }

        /** Returns the nanoseconds of a step whose exchanges take no time. */
        double computed() {
            return buckets.stream().mapToDouble(Bucket::ready).max().orElse(0) + rest;
        }
    }

    /** The network for which {@code Algorithm} chooses: times in latencies. */
    private static final ScaleModel TYPICAL = new ScaleModel(1, 96 << 10);
    /** The time to add a byte, relative to the time to move it. */
    private static final double ADDING = 0.25;

    /** Returns what {@code io.seriatim.cluster} chooses. */
    static Exchange chosen(long bytes, int ranks) {
        double ring = TYPICAL.withAdditions(Exchange.RING, bytes, ranks);
        double halving = TYPICAL.withAdditions(Exchange.HALVING, bytes, ranks);
        if (TYPICAL.withAdditions(Exchange.DOUBLING, bytes, ranks) < Math.min(halving, ring)) {
            return Exchange.DOUBLING;
        }
        return halving < ring ? Exchange.HALVING : Exchange.RING;
    }

    /** Returns the time of a sum if additions take time, too. */
    private double withAdditions(Exchange exchange, long bytes, int ranks) {
        int remaining = Integer.highestOneBit(ranks);
        double pairs = remaining == ranks ? 0 : 1;
        double added = switch (exchange) {
            case RING -> 1 - 1.0 / ranks;
            case HALVING -> pairs + 1 - 1.0 / remaining;
            case DOUBLING -> pairs + Integer.numberOfTrailingZeros(remaining);
        };
        return exchange(exchange, bytes, ranks) + ADDING * added * bytes / bandwidth;
    }

    /** Returns the nanoseconds of a sum of so many bytes over so many ranks. */
    double exchange(Exchange exchange, long bytes, int ranks) {
        if (ranks == 1) {
            return 0;
        }
        int remaining = Integer.highestOneBit(ranks);
        int rounds = Integer.numberOfTrailingZeros(remaining);
        // Ranks beyond a power of two begin and end in pairs.
        double folds = remaining == ranks ? 0 : 2 * message((double) bytes);
        return switch (exchange) {
            case RING -> 2.0 * (ranks - 1) * message((double) bytes / ranks);
            case HALVING -> folds + 2 * (rounds * latency + bytes * (1 - 1.0 / remaining) / bandwidth);
            case DOUBLING -> folds + rounds * message((double) bytes);
        };
    }

    private double message(double bytes) {
        return latency + bytes / bandwidth;
    }

    /** Returns the nanoseconds of the sum as it is computed. */
    double exchange(long bytes, int ranks) {
        return exchange(chosen(bytes, ranks), bytes, ranks);
    }

    /** Returns the nanoseconds of the fastest way. */
    double fastest(long bytes, int ranks) {
        double best = Double.POSITIVE_INFINITY;
        for (Exchange each : Exchange.values()) {
            best = Math.min(best, exchange(each, bytes, ranks));
        }
        return best;
    }

    /** The time of a sum. */
    interface Cost {
        double of(long bytes, int ranks);
    }

    /** Returns the nanoseconds of a step. */
    static double step(Step step, int ranks, Cost cost) {
        double free = 0;
        for (Bucket each : step.buckets()) {
            free = Math.max(free, each.ready()) + cost.of(each.bytes(), ranks);
        }
        return free + step.rest();
    }

    /** Returns the share of the exchange that does not make the step longer. */
    static double hidden(Step step, int ranks, Cost cost) {
        double all = step.buckets().stream().mapToDouble(each -> cost.of(each.bytes(), ranks)).sum();
        return all == 0 ? 1 : 1 - (step(step, ranks, cost) - step.computed()) / all;
    }

    /**
     * Returns the largest number of ranks, up to a limit, at which the ring is the fastest way. Numbers that are no
     * powers of two are where it lasts longest: the other ways then send everything twice more.
     */
    int ringPaysUpTo(long bytes, int most) {
        for (int ranks = most; ranks > 2; ranks--) {
            if (exchange(Exchange.RING, bytes, ranks) <= fastest(bytes, ranks)) {
                return ranks;
            }
        }
        return 2;
    }
}
