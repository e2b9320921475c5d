package io.seriatim.benchmarks.metg;

import io.seriatim.benchmarks.common.Printer;
import io.seriatim.benchmarks.metg.MetgResults.Contestant;
import io.seriatim.benchmarks.metg.MetgSystem.Kind;
import io.seriatim.cli.text.Table;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Prints a table for each number of tasks a worker: a row a pattern, a column a system, and the ratios. */
final class MetgTables {
    private final MetgResults results;

    MetgTables(MetgResults results) {
        this.results = results;
    }

    void print(Printer printer, int workers) {
        for (int tasks : results.tasksPerWorker()) {
            printer.print("METG(50 %) in µs, " + workers + (workers == 1 ? " thread that runs" : " threads that run")
                    + " tasks, steps of " + tasks + (tasks == 1 ? " task" : " tasks") + " a thread", table(tasks));
        }
        for (Contestant system : results.systems()) {
            printer.out().println(system.name() + ": the pushing thread "
                    + (system.pusherRunsTasks() ? "is one of these threads" : "is an additional one"));
        }
        printer.out().flush();
    }

    Table table(int tasks) {
        List<String> header = new ArrayList<>(List.of("pattern"));
        results.systems().forEach(system -> header.add(system.name()));
        header.add("÷ best C++ system");
        header.add("÷ best other on the JVM");
        Table table = new Table(header);
        for (TaskPattern pattern : results.patterns()) {
            List<String> row = new ArrayList<>(List.of(pattern.label()));
            results.systems().forEach(system -> row.add(micros(results.metg(pattern, tasks, system))));
            row.add(ratio(results.ratio(pattern, tasks, Kind.NATIVE)));
            row.add(ratio(results.ratio(pattern, tasks, Kind.JVM)));
            table.row(row);
        }
        List<String> mean = new ArrayList<>(List.of("geometric mean, with dependencies"));
        results.systems().forEach(system -> mean.add(""));
        mean.add(ratio(results.meanRatio(tasks, Kind.NATIVE, TaskPattern::hasDependencies)));
        mean.add(ratio(results.meanRatio(tasks, Kind.JVM, TaskPattern::hasDependencies)));
        table.row(mean);
        return table;
    }

    private static String micros(double nanos) {
        return Double.isNaN(nanos) ? "–" : String.format(Locale.ROOT, "%.2f", nanos / 1000);
    }

    private static String ratio(double value) {
        return Double.isNaN(value) ? "–" : Printer.times(value);
    }
}
