package io.seriatim.benchmarks.cluster;

import io.seriatim.benchmarks.cluster.ClusterBench.Measured;
import io.seriatim.cli.text.Table;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/**
 * The model for more ranks than this machine can run.
 *
 * @param series
 *            one for each network that is trained and each network between machines
 * @param overhead
 *            nanoseconds of a message beyond the delay, as measured
 */
record ScaleForecast(List<Series> series, double overhead) {
    /** The numbers of ranks. */
    static final List<Integer> RANKS = IntStream.rangeClosed(3, 10).mapToObj(power -> 1 << power).toList();

    private static final List<Long> SIZES = List.of(64L << 10, 256L << 10, 1L << 20, 4L << 20, 16L << 20, 64L << 20);
    private static final int MOST = 1 << 12;
    private static final double GIGABIT = 1e9 / Byte.SIZE;
    /** Networks of machines: that of an office, and two of data centres. */
    private static final List<EmulatedNetwork.Limits> OTHERS = List.of(
            new EmulatedNetwork.Limits(10 * GIGABIT, 50_000), new EmulatedNetwork.Limits(100 * GIGABIT, 10_000));

    ScaleForecast {
        series = List.copyOf(series);
    }

    /**
     * The steps of a network.
     *
     * @param label
     *            what is trained where
     * @param step
     *            its time line
     * @param network
     *            between the ranks
     * @param limits
     *            from which the network follows
     */
    record Series(String label, ScaleModel.Step step, ScaleModel network, EmulatedNetwork.Limits limits) {
        /** Returns how much of the speed of ranks that exchange nothing is left. */
        double efficiency(int ranks, ScaleModel.Cost cost) {
            return step.computed() / ScaleModel.step(step, ranks, cost);
        }
    }

    static ScaleForecast of(List<Measured> measured, ScaleModel fitted, EmulatedNetwork.Limits limits) {
        double overhead = Math.max(0, fitted.latency() - limits.delayNanos());
        List<Series> series = new ArrayList<>();
        for (Measured each : measured) {
            List<EmulatedNetwork.Limits> networks = new ArrayList<>(List.of(limits));
            networks.addAll(OTHERS);
            for (EmulatedNetwork.Limits network : networks) {
                ScaleModel model = network.equals(limits) ? fitted : model(network, overhead);
                series.add(new Series(each.network().name().toLowerCase(Locale.ROOT) + ", " + describe(network),
                        each.free().timeline(), model, network));
            }
        }
        return new ScaleForecast(series, overhead);
    }

    private static ScaleModel model(EmulatedNetwork.Limits network, double overhead) {
        return new ScaleModel(network.delayNanos() + overhead, network.bytesPerSecond() / 1e9);
    }

    static String describe(EmulatedNetwork.Limits network) {
        return String.format(Locale.ROOT, "%.4s Gbit/s, %s", trimmed(network.bytesPerSecond() / GIGABIT),
                network.delayNanos() >= 1_000_000
                        ? trimmed(network.delayNanos() / 1e6) + " ms"
                        : trimmed(network.delayNanos() / 1e3) + " µs");
    }

    private static String trimmed(double value) {
        return value == Math.rint(value) ? Long.toString((long) value) : Double.toString(value);
    }

    static Table table(Series series) {
        ScaleModel network = series.network();
        Table table = new Table(List.of("ranks", "as computed: step, ms", "efficiency", "exchange, ms", "hidden",
                "ring only: step, ms", "fastest way each: step, ms", "its efficiency"));
        for (int ranks : RANKS) {
            ScaleModel.Cost ring = (bytes, all) -> network.exchange(ScaleModel.Exchange.RING, bytes, all);
            table.row(List.of(Integer.toString(ranks),
                    ClusterTables.millis(ScaleModel.step(series.step(), ranks, network::exchange)),
                    ClusterTables.percent(series.efficiency(ranks, network::exchange)),
                    ClusterTables.millis(series.step().buckets().stream()
                            .mapToDouble(each -> network.exchange(each.bytes(), ranks)).sum()),
                    ClusterTables.percent(ScaleModel.hidden(series.step(), ranks, network::exchange)),
                    ClusterTables.millis(ScaleModel.step(series.step(), ranks, ring)),
                    ClusterTables.millis(ScaleModel.step(series.step(), ranks, network::fastest)),
                    ClusterTables.percent(series.efficiency(ranks, network::fastest))));
        }
        return table;
    }

    /** By size of the sum, how many ranks the ring is best for, among powers of two and among all numbers. */
    Table ring() {
        List<Series> networks = series.stream().filter(each -> each.step().equals(series.getFirst().step())).toList();
        List<String> header = new ArrayList<>(List.of("KiB"));
        networks.forEach(each -> header.add(describe(each.limits())));
        Table table = new Table(header);
        for (long bytes : SIZES) {
            List<String> row = new ArrayList<>(List.of(Long.toString(bytes >> 10)));
            for (Series each : networks) {
                int most = each.network().ringPaysUpTo(bytes, MOST);
                row.add(most == MOST ? "more than " + MOST : Integer.toString(most));
            }
            table.row(row);
        }
        return table;
    }
}
