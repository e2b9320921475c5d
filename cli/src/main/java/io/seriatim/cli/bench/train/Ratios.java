package io.seriatim.cli.bench.train;

import io.seriatim.cli.bench.Table;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;

/** The table of our figures beside a peer's. */
final class Ratios {
    private static final String MISSING = "–";
    private static final Map<String, String> UNITS = Map.of("median_ms", "ms", "median_us", "µs", "ns_per_op", "ns/op");

    private final Table table;

    Ratios(String peer) {
        table = new Table(List.of("work", "threads", "unit", "seriatim", peer, "÷", "MB", peer + ", MB", "÷", "first step, s",
                peer + ", s", "÷"));
    }

    void row(Figures ours, Figures peer) {
        String unit = UNITS.getOrDefault(ours.timeKey(), ours.timeKey());
        OptionalDouble ourTime = ours.number(ours.timeKey());
        OptionalDouble peerTime = peer.number(ours.timeKey());
        table.row(List.of(ours.text("work"), whole(ours.number("threads")), unit, decimal(ourTime), decimal(peerTime),
                ratio(ourTime, peerTime), whole(ours.number("rss_mb")), whole(peer.number("rss_mb")),
                ratio(ours.number("rss_mb"), peer.number("rss_mb")), decimal(ours.number("first_step_s")),
                decimal(peer.number("first_step_s")), ratio(ours.number("first_step_s"), peer.number("first_step_s"))));
    }

    Table table() {
        return table;
    }

    private static String whole(OptionalDouble value) {
        return value.isEmpty() ? MISSING : String.format(Locale.ROOT, "%.0f", value.getAsDouble());
    }

    private static String decimal(OptionalDouble value) {
        return value.isEmpty() ? MISSING : String.format(Locale.ROOT, "%.2f", value.getAsDouble());
    }

    private static String ratio(OptionalDouble ours, OptionalDouble peer) {
        return ours.isEmpty() || peer.isEmpty()
                ? MISSING
                : String.format(Locale.ROOT, "%.2f", ours.getAsDouble() / peer.getAsDouble());
    }
}
