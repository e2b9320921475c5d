package io.seriatim.benchmarks.cluster;

import io.seriatim.benchmarks.cluster.ClusterBench.Measured;
import io.seriatim.cli.text.Table;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/**
 * What was measured beside what the model says.
 *
 * @param measured
 *            by network and number of ranks
 * @param limits
 *            of the network
 */
record ClusterTables(List<Measured> measured, EmulatedNetwork.Limits limits) {
    ClusterTables {
        measured = List.copyOf(measured);
    }

    /** Fitted to the fewest ranks, for all others. */
    private ScaleModel model() {
        return fewest().model();
    }

    private Measured fewest() {
        return measured.stream().min(Comparator.comparingInt(Measured::ranks)).orElseThrow();
    }

    Table sums() {
        Table table = new Table(List.of("ranks", "KiB", "way", "measured, ms", "model, ms", "model ÷ measured"));
        for (Measured each : measured) {
            each.sums().forEach((bytes, nanos) -> {
                double modelled = model().exchange(bytes, each.ranks());
                table.row(List.of(Integer.toString(each.ranks()), Long.toString(bytes >> 10),
                        ScaleModel.chosen(bytes, each.ranks()).name().toLowerCase(Locale.ROOT), millis(nanos),
                        millis(modelled), ratio(modelled / nanos)));
            });
        }
        return table;
    }

    Table steps() {
        Table table =
                new Table(List.of("network", "ranks", "sums a step", "without limits, ms", "with, ms", "model, ms",
                        "model ÷ with", "exchange, ms", "hidden", "model"));
        for (Measured each : measured) {
            double modelled = ScaleModel.step(each.free().timeline(), each.ranks(), model()::exchange);
            table.row(List.of(each.network().name().toLowerCase(Locale.ROOT), Integer.toString(each.ranks()),
                    Integer.toString(each.free().buckets().size()), millis(each.free().step()),
                    millis(each.limited().step()), millis(modelled), ratio(modelled / each.limited().step()),
                    millis(each.limited().exchanging()), percent(each.limited().hidden()),
                    percent(ScaleModel.hidden(each.free().timeline(), each.ranks(), model()::exchange))));
        }
        return table;
    }

    /** The time line is that of the fewest ranks, which hinder each other least on the cores of this machine. */
    ScaleForecast forecast() {
        return ScaleForecast.of(measured.stream().filter(each -> each.ranks() == fewest().ranks()).toList(), model(),
                limits);
    }

    static String millis(double nanos) {
        return String.format(Locale.ROOT, "%.2f", nanos / 1e6);
    }

    static String percent(double share) {
        return String.format(Locale.ROOT, "%.0f %%", 100 * share);
    }

    private static String ratio(double value) {
        return String.format(Locale.ROOT, "%.2f", value);
    }
}
