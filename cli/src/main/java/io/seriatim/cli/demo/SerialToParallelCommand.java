package io.seriatim.cli.demo;

import io.seriatim.engine.Recorder;
import io.seriatim.engine.TraceFile;
import io.seriatim.tensor.StagedFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Runs a serial program over the JDK's classes, and the same program through the engine. */
@Command(name = "serial-to-parallel", description = SerialToParallelCommand.WHAT)
public final class SerialToParallelCommand implements Callable<Integer> {
    static final String WHAT = "Hash, compress and index the running JDK's classes: as a serial loop, and the same "
            + "loop through the "
            + "engine. The results are compared byte for byte.";
    private static final long BYTES_PER_MEGA = 1_000_000;

    @Spec
    private @Nullable CommandSpec spec;

    @Option(names = "--threads", paramLabel = "N", description = "Workers of the engine; as many as processors.")
    private int threads = Runtime.getRuntime().availableProcessors();

    @Option(names = "--limit", paramLabel = "MB", description = "How much of the JDK's classes to take; "
            + "${DEFAULT-VALUE}.")
    private int limit = 32;

    @Option(names = "--runs", paramLabel = "N", description = "How often each program runs, after a warm-up; the "
            + "median counts; "
            + "${DEFAULT-VALUE}.")
    private int runs = 3;

    @Option(names = "--trace", paramLabel = "FILE", description = "Write the timeline for Perfetto or Chrome.")
    private @Nullable Path trace;

    private SerialToParallelCommand() {
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        CommandLine command = Objects.requireNonNull(spec, "spec").commandLine();
        checkOptions(command);
        List<Group> groups = ClassFiles.groups(limit * BYTES_PER_MEGA);
        Report report = new Report(command.getOut());
        report.program(groups);

        Comparison comparison;
        Timeline timeline = new Timeline();
        try (Progress progress = Progress.of(command.getErr())) {
            progress.show("warming up");
            comparison = new Comparison(groups, threads);
            comparison.warmUp();
            for (int run = 1; run <= runs; run++) {
                progress.show("run " + run + " of " + runs);
                comparison.measure();
            }
            progress.show("recording");
            record(comparison, timeline);
        }
        report.timeline(timeline);
        report.outcome(comparison, threads, timeline.operations());
        Path file = trace;
        if (file != null) {
            command.getOut().println("trace     " + file + ", to be opened at https://ui.perfetto.dev");
        }
        return comparison.isSame() ? 0 : 1;
    }

    private void record(Comparison comparison, Timeline timeline) throws IOException, InterruptedException {
        Path file = trace;
        if (file == null) {
            comparison.record(timeline);
            return;
        }
        // Closed after the engine, which ends with the run.
        try (TraceFile traced = Recorder.trace(file)) {
            comparison.record(op -> {
                timeline.ended(op);
                traced.ended(op);
            });
        }
    }

    private void checkOptions(CommandLine command) {
        atLeastOne(command, "--threads", threads);
        atLeastOne(command, "--limit", limit);
        atLeastOne(command, "--runs", runs);
        Path file = trace;
        if (file != null) {
            checkWritable(command, file);
        }
    }

    private static void atLeastOne(CommandLine command, String option, int value) {
        if (value < 1) {
            throw new ParameterException(command, option + " must be at least 1, but is " + value);
        }
    }

    /**
     * Checks that the file can be written by creating a temporary file in its folder, because permissions alone are not
     * conclusive. An existing file stays unchanged until the run is over.
     */
    private static void checkWritable(CommandLine command, Path file) {
        Path folder = file.toAbsolutePath().getParent();
        if (folder == null || !Files.isDirectory(folder) || Files.isDirectory(file)) {
            throw new ParameterException(command,
                    "--trace must be a file in a folder that exists, but is '" + file + "'");
        }
        try {
            StagedFiles.requireReplaceable(file);
            Files.delete(Files.createTempFile(folder, file.getFileName().toString(), ".partial"));
        } catch (IOException e) {
            // Only the type of the exception, because its message names the temporary file.
            String why = e.getClass().getSimpleName();
            throw new ParameterException(command,
                    "--trace must be a file that can be written, but is '" + file + "': " + why, e);
        }
    }
}
