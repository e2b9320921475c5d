package io.seriatim.benchmarks.cluster;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.ToDoubleFunction;

/**
 * Measures steps and sums of ranks on an emulated network.
 *
 * @param limits
 *            of the network
 * @param batch
 *            the examples of a rank
 * @param threads
 *            of a rank
 * @param warmUps
 *            steps before the first round
 * @param steps
 *            of a round
 * @param rounds
 *            without limits and with them
 * @param isFastest
 *            whether the fastest step counts instead of the median
 * @param notice
 *            is told what is measured
 */
record ClusterBench(EmulatedNetwork.Limits limits, int batch, int threads, int warmUps, int steps, int rounds,
        boolean isFastest, Consumer<String> notice) {
    /** The least sum, which is one message to each partner, and others. */
    private static final List<Long> SUMS = List.of(1L << 10, 256L << 10, 4L << 20);

    /**
     * What was measured.
     *
     * @param network
     *            that was trained
     * @param ranks
     *            the number of processes
     * @param sums
     *            nanoseconds by bytes, on the limited network
     * @param free
     *            a round without limits, the median
     * @param limited
     *            a round with them, the median
     */
    record Measured(TrainedNetwork network, int ranks, Map<Long, Double> sums, RankSteps free, RankSteps limited) {
        /** Returns the network that explains the times of the least and of the largest sum. */
        ScaleModel model() {
            double latency = sum(SUMS.getFirst()) / rounds(SUMS.getFirst());
            long bytes = SUMS.getLast();
            double messages = 2.0 * (ranks - 1);
            double bandwidth = messages * bytes / ranks / (sum(bytes) - messages * latency);
            return new ScaleModel(latency, bandwidth);
        }

        private double sum(long bytes) {
            return Objects.requireNonNull(sums.get(bytes), "the time of a sum");
        }

        /** How many messages follow each other in a sum of so few bytes. */
        private double rounds(long bytes) {
            return new ScaleModel(1, Double.POSITIVE_INFINITY).exchange(bytes, ranks);
        }
    }

    Measured measure(TrainedNetwork network, int ranks) throws IOException {
        notice.accept(network + ", " + ranks + " processes of " + threads + " threads");
        try (RankGroup group = RankGroup.start(ranks, network, batch, threads, isFastest)) {
            group.steps(EmulatedNetwork.NONE, warmUps);
            Map<Long, Double> sums = new TreeMap<>();
            for (long bytes : SUMS) {
                group.sum(limits, bytes, 2);
                sums.put(bytes, group.sum(limits, bytes, steps));
            }
            List<RankSteps> free = new ArrayList<>();
            List<RankSteps> limited = new ArrayList<>();
            for (int round = 0; round < rounds; round++) {
                free.add(group.steps(EmulatedNetwork.NONE, steps));
                limited.add(group.steps(limits, steps));
            }
            return new Measured(network, ranks, sums, middle(free, RankSteps::step), middle(limited, RankSteps::step));
        }
    }

    private RankSteps middle(List<RankSteps> rounds, ToDoubleFunction<RankSteps> by) {
        List<RankSteps> sorted = new ArrayList<>(rounds);
        sorted.sort((a, b) -> Double.compare(by.applyAsDouble(a), by.applyAsDouble(b)));
        return sorted.get(isFastest ? 0 : (sorted.size() - 1) / 2);
    }
}
