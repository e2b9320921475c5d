package io.seriatim.benchmarks.executor;

import io.seriatim.benchmarks.common.OwnProcess;
import io.seriatim.benchmarks.common.Printer;
import io.seriatim.benchmarks.common.Progress;
import io.seriatim.cli.text.Table;
import io.seriatim.graph.Network;
import io.seriatim.graph.format.ProgramFiles;
import io.seriatim.tensor.Npy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** Measures the time from a description to a plan, and from a file to a result. */
final class BuildBench {
    private static final String COMMAND = "io.seriatim.cli.Main";
    private static final double MEGABYTE = 1 << 20;
    private static final String GOALS = "Each in a process of its own with a heap of 1 GiB. Goals for 100,000: the "
            + "plan with its first run within 3 s, seriatim run within 8 s, start of Java "
            + "included. Known: PaddlePaddle 2.6.2 takes 0.4 s for 1,000 and 45 s for 10,000, quadratic after "
            + "that; then 6,500 ns an operation a run.";

    private final int rounds;
    private final Progress progress;

    BuildBench(int rounds, Progress progress) {
        this.rounds = rounds;
        this.progress = progress;
    }

    void run(Printer printer, int... sizes) throws IOException, InterruptedException {
        Table table = new Table(
                List.of("operations", "define, s", "compile, s", "first run, s", "plan and first run, s",
                        "its CPU time, s",
                        "next run, ns per operation",
                        "heap held, MiB", "seriatim run, s"));
        for (int size : sizes) {
            progress.stage("plan of " + Printer.count(size) + " operations");
            Building[] buildings = new Building[rounds];
            double[] commands = new double[rounds];
            for (int i = 0; i < rounds; i++) {
                progress.round(i, 0, rounds);
                buildings[i] = Building.inOwnProcess(size);
                commands[i] = command(size);
            }
            table.row(row(buildings, commands));
        }
        progress.done();
        printer.print(
                "Building plans: random programs of three kinds of small operations, " + rounds
                        + (rounds == 1 ? " round" : " rounds"),
                table);
        printer.line(GOALS);
    }

    /** Of those whose times are in the middle. */
    private static List<String> row(Building[] buildings, double[] commands) {
        Arrays.sort(buildings, Comparator.comparingDouble(Building::plan));
        Arrays.sort(commands);
        Building building = buildings[buildings.length / 2];
        return List.of(Printer.count(building.operations()), seconds(building.define()), seconds(building.compile()),
                seconds(building.first()),
                seconds(building.plan()), seconds(building.cpu()),
                String.format(Locale.ROOT, "%.0f", building.next() * 1e9 / building.operations()),
                String.format(Locale.ROOT, "%.0f", building.heap() / MEGABYTE), seconds(commands[commands.length / 2]));
    }

    /** One step of a program file with the command, in seconds. */
    private static double command(int size) throws IOException, InterruptedException {
        Path folder = Files.createTempDirectory("seriatim-bench");
        Path program = folder.resolve("random.pdmodel");
        Path feed = folder.resolve("x.npy");
        try {
            Network network = TinyProgram.RANDOM.network(size);
            ProgramFiles.write(program, network.main());
            Npy.write(feed, TinyProgram.feed());
            String fetch = network.outputs().get("y").name();
            long start = System.nanoTime();
            OwnProcess.run(COMMAND, "run", "--program", program.toString(), "--feed", "x=" + feed, "--fetch", fetch,
                    "--out",
                    folder.toString());
            double seconds = (System.nanoTime() - start) / 1e9;
            Files.delete(folder.resolve(fetch + ".npy"));
            return seconds;
        } finally {
            Files.deleteIfExists(program);
            Files.deleteIfExists(feed);
            Files.deleteIfExists(folder);
        }
    }

    private static String seconds(double value) {
        return String.format(Locale.ROOT, "%.2f", value);
    }
}
