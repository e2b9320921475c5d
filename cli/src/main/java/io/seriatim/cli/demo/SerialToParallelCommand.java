package io.seriatim.cli.demo;

import io.seriatim.engine.Engine;
import io.seriatim.engine.Recorder;
import io.seriatim.engine.TraceFile;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Runs a serial program over the JDK's classes, and the same program through the engine. */
@Command(name = "serial-to-parallel", description = "Hash, compress and index the running JDK's classes: as a serial loop, and the same loop through the engine. "
        + "The results are compared byte for byte.")
public final class SerialToParallelCommand implements Callable<Integer> {
    private static final int MEGA = 1_000_000;
    private static final int COLUMNS = 100;
    /** Each group of files waits in memory, so not too many of them. */
    private static final int MAX_PENDING = 1024;

    @Spec
    private @Nullable CommandSpec spec;

    @Option(names = "--threads", paramLabel = "N", description = "Workers of the engine; as many as processors.")
    private int threads = Runtime.getRuntime().availableProcessors();

    @Option(names = "--limit", paramLabel = "MB", description = "How much of the JDK's classes to take; 32.")
    private int limit = 32;

    @Option(names = "--runs", paramLabel = "N", description = "How often each program runs, after a warm-up; the median counts; 3.")
    private int runs = 3;

    @Option(names = "--trace", paramLabel = "FILE", description = "Write the last run's timeline for Perfetto.")
    private @Nullable Path trace;

    private SerialToParallelCommand() {
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        CommandSpec s = Objects.requireNonNull(spec);
        atLeastOne(s, "--threads", threads);
        atLeastOne(s, "--limit", limit);
        atLeastOne(s, "--runs", runs);
        Path file = trace;
        if (file != null) {
            checkFolder(s, file);
        }
        PrintWriter out = s.commandLine().getOut();
        PrintWriter err = s.commandLine().getErr();

        List<Group> groups = ClassFiles.groups((long) limit * MEGA);
        int files = groups.stream().mapToInt(group -> group.files().size()).sum();
        out.printf(Locale.ROOT, "%,d class files of the running JDK, about %d MB, in %,d groups.%n", files, limit, groups.size());
        out.println("Each group is read, hashed, compressed and indexed; archive, list and index are shared and keep the loop's order.");
        out.flush();

        Timeline timeline = new Timeline();
        List<Double> serial = new ArrayList<>();
        List<Double> parallel = new ArrayList<>();
        Result expected = SerialProgram.run(groups);
        boolean same = true;
        for (int run = 0; run <= runs; run++) {
            err.printf("\rrun %d of %d%s", run, runs, run == 0 ? ": warming up" : "            ");
            err.flush();
            long began = System.nanoTime();
            same &= SerialProgram.run(groups).isSameAs(expected);
            double serially = seconds(began);
            timeline.clear();
            began = System.nanoTime();
            same &= runParallel(groups, timeline, run == runs ? file : null).isSameAs(expected);
            double inParallel = seconds(began);
            if (run > 0) {
                serial.add(serially);
                parallel.add(inParallel);
            }
        }
        err.print("\r                                \r");
        err.flush();
        report(out, timeline, expected, median(serial), median(parallel), same);
        if (file != null) {
            out.printf("Timeline: %s; open it at https://ui.perfetto.dev%n", file);
        }
        return same ? 0 : 1;
    }

    private Result runParallel(List<Group> groups, Timeline timeline, @Nullable Path file) throws IOException, InterruptedException {
        try (@Nullable
        TraceFile traced = file == null ? null : Recorder.trace(file);
                Engine engine = Engine.builder().name("demo").pooled(threads).maxPending(MAX_PENDING).recorder(op -> {
                    timeline.ended(op);
                    if (traced != null) {
                        traced.ended(op);
                    }
                }).build()) {
            return EngineProgram.run(engine, groups);
        }
    }

    private void report(PrintWriter out, Timeline timeline, Result result, double serial, double parallel, boolean same) {
        out.println();
        timeline.lines(COLUMNS).forEach(out::println);
        out.println();
        out.printf(Locale.ROOT, "serial   %6.2f s%n", serial);
        out.printf(Locale.ROOT, "parallel %6.2f s   %d workers, %,d operations, %.2f times as fast%n", parallel, threads,
                timeline.operations(), serial / parallel);
        out.printf(Locale.ROOT, "result   %s: archive of %,d bytes, %,d class names%n",
                same ? "the same, byte for byte" : "DIFFERENT, which is a defect of the engine",
                result.archiveBytes(), result.names());
        out.flush();
    }

    /** Before the run, not after it. */
    private static void checkFolder(CommandSpec s, Path file) {
        Path folder = file.toAbsolutePath().getParent();
        if (folder == null || !Files.isDirectory(folder) || Files.isDirectory(file)) {
            throw new ParameterException(s.commandLine(), "--trace needs a file in a folder that exists, but is " + file);
        }
    }

    private static void atLeastOne(CommandSpec s, String option, int value) {
        if (value < 1) {
            throw new ParameterException(s.commandLine(), option + " must be at least 1, but is " + value);
        }
    }

    private static double seconds(long began) {
        return (System.nanoTime() - began) / 1e9;
    }

    private static double median(List<Double> times) {
        return times.stream().sorted().toList().get(times.size() / 2);
    }
}
