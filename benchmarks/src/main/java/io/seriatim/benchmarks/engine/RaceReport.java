package io.seriatim.benchmarks.engine;

import io.seriatim.benchmarks.common.Printer;
import io.seriatim.cli.text.Table;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/** The tables of a comparison: times, and the medians of Seriatim relative to those of the others. */
final class RaceReport {
    private final Standings standings;

    RaceReport(Standings standings) {
        this.standings = standings;
    }

    Table times() {
        Table table = new Table(header("min / median", "result"));
        for (Contender c : standings.contenders()) {
            table.row(row(c.name(), work -> {
                Samples samples = standings.of(c, work);
                return Printer.nanos(samples.min()) + " / " + Printer.nanos(samples.median());
            }, standings.check(c).toString()));
        }
        return table;
    }

    /**
     * The median of Seriatim divided by the other's, with the same number of workers if measured, otherwise with the
     * largest.
     */
    Table ratios() {
        Table table = new Table(header("", "ours"));
        for (Contender other : standings.contenders()) {
            if (!other.ours()) {
                rival(other).ifPresent(ours -> table.row(row("÷ " + other.name(),
                        work -> Printer.times(standings.of(ours, work).median() / standings.of(other, work).median()),
                        ours.name())));
            }
        }
        return table;
    }

    /** Adds the speed-up of each contender relative to another. */
    Table speedUps(Contender base) {
        Table table = new Table(header("", "result"));
        for (Contender c : standings.contenders()) {
            if (!c.equals(base)) {
                table.row(row(c.name(),
                        work -> Printer.times(standings.of(base, work).median() / standings.of(c, work).median()),
                        standings.check(c).toString()));
            }
        }
        return table;
    }

    private Optional<Contender> rival(Contender other) {
        List<Contender> ours = standings.contenders().stream().filter(Contender::ours).toList();
        Optional<Contender> equal = ours.stream().filter(c -> c.workers() > 0 && c.workers() == other.workers())
                .findFirst();
        return equal.or(() -> ours.stream().max(Comparator.comparingInt(Contender::workers)));
    }

    private List<String> header(String first, String last) {
        return Stream.of(Stream.of(first), standings.works().stream().map(Work::name), Stream.of(last)).flatMap(s -> s)
                .toList();
    }

    private List<String> row(String first, Function<Work, String> cell, String last) {
        List<String> cells = new ArrayList<>();
        cells.add(first);
        standings.works().forEach(work -> cells.add(cell.apply(work)));
        cells.add(last);
        return cells;
    }
}
