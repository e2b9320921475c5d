package io.seriatim.cli.bench.executor;

import io.seriatim.cli.bench.Printer;
import io.seriatim.cli.bench.Progress;
import io.seriatim.cli.bench.Table;
import java.io.IOException;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/** How long it takes from a description to a plan. */
final class BuildBench {
    private static final String GOALS = "Each in a process of its own with a heap of 1 GiB. Goal for 100,000: definition, plan and first run in 3 s. Known: PaddlePaddle 2.6.2 takes 0.4 s for 1,000, 45 s "
            + "for 10,000, quadratic after that; then 6,500 ns an operation a run.";

    private final int rounds;
    private final Progress progress;

    BuildBench(int rounds, Progress progress) {
        this.rounds = rounds;
        this.progress = progress;
    }

    void run(Printer printer, int... sizes) throws IOException, InterruptedException {
        Table table = new Table(
                List.of("operations", "define, s", "compile, s", "first run, s", "together, s", "next run, ns per operation",
                        "heap held, MiB"));
        for (int size : sizes) {
            progress.stage("plan of " + Printer.count(size) + " operations");
            Building building = typical(size);
            table.row(List.of(Printer.count(size), seconds(building.define()), seconds(building.compile()), seconds(building.first()),
                    seconds(building.together()), String.format(Locale.ROOT, "%.0f", building.next() * 1e9 / size),
                    String.format(Locale.ROOT, "%.0f", building.heap() / (double) (1 << 20))));
        }
        progress.done();
        printer.print("Building plans: random programs of three kinds of small operations, the middle of " + rounds + " processes", table);
        printer.line(GOALS);
    }

    /** The one whose time in all is the middle. */
    private Building typical(int size) throws IOException, InterruptedException {
        Building[] all = new Building[rounds];
        for (int i = 0; i < rounds; i++) {
            progress.round(i, 0, rounds);
            all[i] = Building.inOwnProcess(size);
        }
        return IntStream.range(0, rounds).mapToObj(i -> all[i]).sorted(Comparator.comparingDouble(Building::together)).toList()
                .get(rounds / 2);
    }

    private static String seconds(double value) {
        return String.format(Locale.ROOT, "%.2f", value);
    }
}
