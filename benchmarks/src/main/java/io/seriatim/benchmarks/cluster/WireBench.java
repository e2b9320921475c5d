package io.seriatim.benchmarks.cluster;

import io.seriatim.cli.text.Table;
import io.seriatim.tensor.DType;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;

/**
 * Measures sums of float32 between processes that are connected directly, by TCP: plain, as bfloat16 on the wire, and
 * with TLS. They take turns in each round.
 *
 * @param threads
 *            of a rank
 * @param count
 *            how often a round measures each
 * @param rounds
 *            the fastest counts
 * @param sizes
 *            bytes of the sums
 * @param notice
 *            is told what is measured
 */
record WireBench(int threads, int count, int rounds, List<Long> sizes, Consumer<String> notice) {
    /** Of some KiB, where latency decides, to a large network's. */
    static final List<Long> SIZES = List.of(64L << 10, 1L << 20, 10L << 20, 64L << 20);

    private static final int BATCH = 1;

    /**
     * The nanoseconds of a sum.
     *
     * @param ranks
     *            the number of processes
     * @param bytes
     *            of the sum
     */
    record Measured(int ranks, long bytes, double plain, double bfloat16, double tls) {
    }

    List<Measured> measure(int ranks) throws IOException {
        notice.accept("sums of " + ranks + " processes by their wires");
        List<Measured> all = new ArrayList<>();
        try (RankKeys keys = RankKeys.make();
                RankGroup plain = RankGroup.direct(ranks, TrainedNetwork.NAMES, BATCH, threads, null);
                RankGroup tls = RankGroup.direct(ranks, TrainedNetwork.NAMES, BATCH, threads, keys)) {
            for (long bytes : sizes) {
                double[] best = {Double.POSITIVE_INFINITY, Double.POSITIVE_INFINITY, Double.POSITIVE_INFINITY};
                for (int round = 0; round <= rounds; round++) {
                    double[] own = {plain.sum(EmulatedNetwork.NONE, bytes, count, DType.FLOAT32),
                            plain.sum(EmulatedNetwork.NONE, bytes, count, DType.BFLOAT16),
                            tls.sum(EmulatedNetwork.NONE, bytes, count, DType.FLOAT32)};
                    // The first round warms up.
                    for (int i = 0; i < best.length && round > 0; i++) {
                        best[i] = Math.min(best[i], own[i]);
                    }
                }
                all.add(new Measured(ranks, bytes, best[0], best[1], best[2]));
            }
        }
        return all;
    }

    static Table table(List<Measured> measured) {
        Table table = new Table(List.of("ranks", "KiB", "float32, MB/s", "bfloat16, MB/s", "÷ float32",
                "TLS, MB/s", "÷ float32"));
        for (Measured each : measured) {
            table.row(List.of(Integer.toString(each.ranks()), Long.toString(each.bytes() >> 10),
                    rate(each, each.plain()), rate(each, each.bfloat16()), ratio(each, each.bfloat16()),
                    rate(each, each.tls()), ratio(each, each.tls())));
        }
        return table;
    }

    private static String rate(Measured measured, double nanos) {
        return String.format(Locale.ROOT, "%.0f", measured.bytes() * 1e3 / nanos);
    }

    private static String ratio(Measured measured, double nanos) {
        return String.format(Locale.ROOT, "%.2f", measured.plain() / nanos);
    }
}
