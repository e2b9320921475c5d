package io.seriatim.benchmarks.train;

import io.seriatim.cli.text.Table;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Tables of the results of Seriatim and the peers. Of several lines of the same workload, threads and system, the
 * median is used.
 */
final class Ratios {
    private static final String OURS = "seriatim";
    private static final String MISSING = "–";
    private static final Map<String, String> UNITS = Map.of("median_ms", "ms", "median_us", "µs", "ns_per_op", "ns/op");

    private final List<String> peers;
    private final Map<Key, Map<String, List<Figures>>> lines = new LinkedHashMap<>();

    /** A row of the tables. */
    private record Key(TrainWork work, String label, double threads) {
    }

    Ratios(List<String> peers) {
        this.peers = List.copyOf(peers);
    }

    void add(TrainWork work, Collection<Figures> figures) {
        for (Figures each : figures) {
            Key key = new Key(work, each.text("work"), each.number("threads").orElse(Double.NaN));
            lines.computeIfAbsent(key, _ -> new LinkedHashMap<>())
                    .computeIfAbsent(each.text("lib"), _ -> new ArrayList<>()).add(each);
        }
    }

    /** Returns the times, with the ratio of Seriatim to the fastest peer. */
    Table times() {
        return table(List.of("unit"), key -> List.of(UNITS.getOrDefault(timeKey(key), timeKey(key))), this::timeKey,
                key -> String.format(Locale.ROOT, "%.2f", key.work.goal().ratio()), "fastest", _ -> true);
    }

    /** Returns the peak memory of training processes, with the ratio of Seriatim to the peer with the least. */
    Table memory() {
        return table(List.of(), _ -> List.of(), _ -> "rss_mb", key -> key.work.goal().megabytes(), "least",
                key -> key.work.trains());
    }

    /** Returns the seconds from the start of the process to the end of the first step. */
    Table firstSteps() {
        return table(List.of(), _ -> List.of(), _ -> "first_step_s", key -> key.work.goal().firstStep(), "fastest",
                key -> key.work.trains());
    }

    private Table table(List<String> extraHeader, Function<Key, List<String>> extra, Function<Key, String> number,
            Function<Key, String> goal, String best, Predicate<Key> wanted) {
        List<String> header = new ArrayList<>(List.of("work", "threads"));
        header.addAll(extraHeader);
        header.add(OURS);
        header.addAll(peers);
        header.addAll(List.of(best, "÷", "goal"));
        Table table = new Table(header);
        lines.keySet().stream().filter(wanted).forEach(key -> {
            List<String> row = new ArrayList<>(List.of(key.label, String.format(Locale.ROOT, "%.0f", key.threads)));
            row.addAll(extra.apply(key));
            String measured = number.apply(key);
            OptionalDouble ours = value(key, OURS, measured);
            row.add(decimal(ours));
            peers.forEach(peer -> row.add(decimal(value(key, peer, measured))));
            Optional<String> least = peers.stream().filter(peer -> value(key, peer, measured).isPresent())
                    .min(Comparator.comparingDouble(peer -> value(key, peer, measured).orElseThrow()));
            row.add(least.orElse(MISSING));
            row.add(least.isEmpty() || ours.isEmpty()
                    ? MISSING
                    : decimal(OptionalDouble.of(ours.getAsDouble() / value(key, least.get(), measured).orElseThrow())));
            row.add(goal.apply(key));
            table.row(row);
        });
        return table;
    }

    private String timeKey(Key key) {
        return Objects.requireNonNull(lines.get(key)).values().iterator().next().getFirst().timeKey();
    }

    private OptionalDouble value(Key key, String lib, String number) {
        List<Figures> all = Objects.requireNonNull(lines.get(key)).getOrDefault(lib, List.of());
        return all.isEmpty() ? OptionalDouble.empty() : Figures.median(all).number(number);
    }

    private static String decimal(OptionalDouble value) {
        return value.isEmpty()
                ? MISSING
                : String.format(Locale.ROOT, value.getAsDouble() < 100 ? "%.2f" : "%.0f", value.getAsDouble());
    }
}
