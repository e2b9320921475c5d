package io.seriatim.benchmarks.metg;

import io.seriatim.benchmarks.common.PeerUnavailableException;
import io.seriatim.benchmarks.common.Printer;
import io.seriatim.benchmarks.common.Progress;
import io.seriatim.benchmarks.common.SourceCommit;
import io.seriatim.cli.text.Machine;
import java.io.Console;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Measures the minimum effective task granularity of the engine and of other task systems. */
@Command(name = "metg", description = BenchMetgCommand.WHAT, footer = {"", BenchMetgCommand.MEASURE,
        BenchMetgCommand.CHECKS})
public final class BenchMetgCommand implements Callable<Integer> {
    static final String WHAT = "Measure how small tasks may be, METG(50 %%), in the patterns of Task Bench, against "
            + "others in the same run.";
    static final String MEASURE = "METG(50 %%) is the smallest task granularity, elapsed time times threads divided by "
            + "tasks, at which threads still reach half the speed of threads that only run the kernel.";
    static final String CHECKS = "Every task checks the values that it reads; a wrong one fails the run. OpenMP and "
            + "Taskflow are compiled by g++ or the compiler that the environment variable CXX names, and skipped if "
            + "they are not installed.";
    private static final List<String> SYSTEMS = List.of("seriatim", "seriatim-graph", "futures", "forkjoin", "openmp",
            "taskflow", "taskflow-graph");
    private static final double QUICK_SECONDS = 0.02;
    private static final int QUICK_STEPS = 10;
    private static final int STEPS = 100;

    @Spec
    private @Nullable CommandSpec spec;

    @Option(names = "--quick", description = "Runs of 20 ms instead of 1 s and of at least 10 steps instead of 100, "
            + "one repetition instead of 3.")
    private boolean quick;

    @Option(names = "--pattern", paramLabel = "P", split = ",", description = "Only these of trivial, "
            + "no-communication, stencil, periodic-stencil, nearest, spread, four-nearest, fft, tree, all-to-all, "
            + "random-nearest, load-imbalance.")
    private List<String> patterns = new ArrayList<>();

    @Option(names = "--system", paramLabel = "S", split = ",", description = "Only these of seriatim, "
            + "seriatim-graph, futures, forkjoin, openmp, taskflow, taskflow-graph.")
    private List<String> systems = new ArrayList<>();

    @Option(names = "--workers", paramLabel = "N", description = "Threads that run tasks, in each system; one for "
            + "each processor.")
    private @Nullable Integer workers;

    @Option(names = "--seconds", paramLabel = "S", description = "Approximate time of each run; 1, 0.02 with --quick.")
    private @Nullable Double seconds;

    @Option(names = "--reps", paramLabel = "N", description = "Repetitions, whose median counts; 3, 1 with --quick.")
    private @Nullable Integer reps;

    @Option(names = "--taskflow", paramLabel = "DIR", description = "The folder that contains taskflow/taskflow.hpp, "
            + "if the compiler does not find it.")
    private @Nullable Path taskflow;

    @Option(names = "--json", paramLabel = "F", description = "Write all samples, with commit, processor and cores.")
    private @Nullable Path json;

    @Option(names = "--svg", paramLabel = "F", description = "Draw efficiency over granularity.")
    private @Nullable Path svg;

    @Option(names = "--markdown", description = "Print tables for a README.")
    private boolean markdown;

    /** Created by the command line parser. */
    public BenchMetgCommand() {
        // picocli sets the fields by reflection.
    }

    @Override
    public Integer call() throws InterruptedException, IOException {
        CommandSpec command = Objects.requireNonNull(spec, "spec");
        MetgOptions options;
        try {
            options = options();
        } catch (IllegalArgumentException e) {
            throw new ParameterException(command.commandLine(), String.valueOf(e.getMessage()), e);
        }
        Printer printer = new Printer(command.commandLine().getOut(), markdown);
        boolean terminal = Optional.ofNullable(System.console()).filter(Console::isTerminal).isPresent();
        Progress progress = new Progress(command.commandLine().getErr(), terminal);
        printer.line(Machine.describe());
        List<MetgSystem> all = new ArrayList<>();
        try (NativeSystems compiled = new NativeSystems()) {
            try {
                open(all, compiled, options.workers(), progress);
                MetgBench bench = new MetgBench(options, progress, all);
                MetgResults results = bench.run();
                new MetgTables(results).print(printer, options.workers());
                write(results, options);
                return bench.right() ? 0 : 1;
            } finally {
                all.forEach(MetgSystem::close);
            }
        }
    }

    private MetgOptions options() {
        check("--pattern", TaskPattern.keys(), patterns);
        check("--system", SYSTEMS, systems);
        atLeast("--workers", workers);
        atLeast("--reps", reps);
        if (seconds != null && !(seconds > 0)) {
            throw new IllegalArgumentException("--seconds must be above 0, but is " + seconds);
        }
        List<TaskPattern> chosen = Arrays.stream(TaskPattern.values())
                .filter(pattern -> patterns.isEmpty() || patterns.contains(pattern.key())).toList();
        return new MetgOptions(chosen, workers == null ? Runtime.getRuntime().availableProcessors() : workers,
                List.of(1, 8), seconds == null ? (quick ? QUICK_SECONDS : 1) : seconds, quick ? QUICK_STEPS : STEPS,
                reps == null ? (quick ? 1 : 3) : reps);
    }

    private static void atLeast(String option, @Nullable Integer value) {
        if (value != null && value < 1) {
            throw new IllegalArgumentException(option + " must be at least 1, but is " + value);
        }
    }

    private static void check(String option, List<String> known, List<String> given) {
        for (String each : given) {
            if (!known.contains(each)) {
                throw new IllegalArgumentException(
                        option + " must be of " + String.join(", ", known) + ", but is '" + each + "'");
            }
        }
    }

    private void open(List<MetgSystem> all, NativeSystems compiled, int threads, Progress progress)
            throws InterruptedException {
        for (String key : SYSTEMS) {
            if (systems.isEmpty() || systems.contains(key)) {
                try {
                    all.add(switch (key) {
                        case "seriatim" -> new EngineSystem(threads, false);
                        case "seriatim-graph" -> new EngineSystem(threads, true);
                        case "futures" -> new FutureSystem(threads);
                        case "forkjoin" -> new ForkJoinSystem(threads);
                        case "openmp" -> compiled.openMp(threads);
                        default -> compiled.taskflow(threads, key.endsWith("graph"), taskflow);
                    });
                } catch (PeerUnavailableException e) {
                    progress.notice(key + " is not compared: " + e.getMessage());
                }
            }
        }
    }

    private void write(MetgResults results, MetgOptions options) throws IOException, InterruptedException {
        if (json != null) {
            Map<String, Object> origin = new LinkedHashMap<>();
            origin.put("benchmark", "metg");
            origin.put("date", LocalDate.now(ZoneOffset.UTC).toString());
            origin.put("commit", SourceCommit.current());
            origin.put("processor", Machine.processor().orElse("unknown"));
            origin.put("cores", Runtime.getRuntime().availableProcessors());
            origin.put("java", Runtime.version().toString());
            origin.put("workers", options.workers());
            origin.put("seconds", options.seconds());
            origin.put("leastSteps", options.leastSteps());
            origin.put("threshold", EfficiencyCurve.THRESHOLD);
            Files.writeString(json, new MetgJson(results, origin).text());
        }
        if (svg != null) {
            Files.writeString(svg, new EfficiencyChart(results).svg());
        }
    }
}
