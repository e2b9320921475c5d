package io.seriatim.benchmarks.engine;

import io.seriatim.benchmarks.common.Printer;
import io.seriatim.benchmarks.common.Progress;
import io.seriatim.cli.spi.AtLeast;
import io.seriatim.cli.text.Machine;
import java.io.Console;
import java.util.ArrayList;
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

/** Measures the engine against the serial loop, against futures, and against other engines. */
@Command(name = "engine", description = BenchEngineCommand.WHAT, footer = {"", BenchEngineCommand.RESULTS,
        BenchEngineCommand.PUSHERS})
public final class BenchEngineCommand implements Callable<Integer> {
    static final String WHAT = "Measure the dependency engine: nanoseconds per operation, against others in the "
            + "same run.";
    static final String RESULTS = "Every contender's result is compared with the serial loop's.";
    static final String PUSHERS = "With several pushing threads, each pushes a program of its own, of its share of "
            + "the operations.";
    private static final String PEER = "Another engine: a program that takes operations, turns and repetitions, "
            + "and prints a line for each "
            + "workload. Repeatable.";
    private static final int USUAL_OPS = 200_000;
    private static final int SPEEDUP_OPS = 50_000; // of a microsecond each
    private static final int QUICK_OPS = 20_000;

    @Spec
    private @Nullable CommandSpec spec;

    @Option(names = "--ops", paramLabel = "N", description = "Operations of each workload; 200000, 20000 with --quick.")
    private @Nullable Integer ops;

    @Option(names = "--spin", paramLabel = "N", description = "Extra loop turns of each operation; 0.")
    @AtLeast(0)
    private int spin;

    @Option(names = "--reps", paramLabel = "N", description = "Rounds that count; 11, 3 with --quick.")
    private @Nullable Integer reps;

    @Option(names = "--warmup", paramLabel = "N", description = "Rounds before them; 10, 5 with --quick; 0 for none.")
    @AtLeast(0)
    private @Nullable Integer warmUps;

    @Option(names = "--quick", description = "Few operations and rounds, only what the command itself holds: a few "
            + "seconds.")
    private boolean quick;

    @Option(names = "--workload", paramLabel = "NAME", split = ",", description = "Only these of chain, "
            + "independent, random, fan, wavefront.")
    private List<String> workloads = new ArrayList<>();

    @Option(names = "--engine", paramLabel = "KIND", split = ",", description = "Our engines: "
            + "${COMPLETION-CANDIDATES}; per-device.")
    private List<EngineSetting> engines = new ArrayList<>();

    @Option(names = "--workers", paramLabel = "N", split = ",", description = "Numbers of workers; 1,2.")
    private List<Integer> workers = new ArrayList<>();

    @Option(names = "--pushers", paramLabel = "N", split = ",", description = "Numbers of pushing threads; 1,2,4.")
    private List<Integer> pushers = new ArrayList<>();

    @Option(names = "--peer", paramLabel = "NAME=COMMAND", description = PEER)
    private Map<String, String> peers = new LinkedHashMap<>();

    @Option(names = "--peer-reps", paramLabel = "N", description = "Repetitions in each start of such a program, "
            + "whose median counts; 5.")
    private int peerReps = 5;

    @Option(names = "--skip-peers", description = "Do not look for other engines on the class path.")
    private boolean skipPeers;

    @Option(names = "--memory", description = "Instead: bytes of a pending operation.")
    private boolean memory;

    @Option(names = "--recorder", description = "Instead: what recording costs.")
    private boolean recorder;

    @Option(names = "--speedup", description = "Instead: workers against the serial loop with operations of 1 µs; "
            + "--ops is 50000.")
    private boolean speedup;

    @Option(names = "--markdown", description = "Print tables for a README.")
    private boolean markdown;

    /** Created by the command line parser. */
    public BenchEngineCommand() {
        // picocli sets the fields by reflection.
    }

    @Override
    public Integer call() throws InterruptedException {
        CommandSpec command = Objects.requireNonNull(spec, "spec");
        BenchOptions options;
        try {
            BenchOptions.atLeast("--peer-reps", 1, peerReps);
            options = options(USUAL_OPS);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(command.commandLine(), String.valueOf(e.getMessage()), e);
        }
        Printer printer = new Printer(command.commandLine().getOut(), markdown);
        boolean terminal = Optional.ofNullable(System.console()).filter(Console::isTerminal).isPresent();
        Progress progress = new Progress(command.commandLine().getErr(), terminal);
        printer.line(Machine.describe());
        boolean right = run(options, printer, progress);
        if (!right) {
            progress.notice("seriatim: a result differs from the serial loop's: see the rows marked WRONG");
        }
        return right ? 0 : 1;
    }

    private boolean run(BenchOptions options, Printer printer, Progress progress) throws InterruptedException {
        if (!memory && !recorder && !speedup) {
            return race(options, printer, progress);
        }
        boolean right = true;
        if (speedup) {
            right &= new SpeedupBench(options(SPEEDUP_OPS), progress).run(printer);
        }
        if (recorder) {
            right &= new RecorderBench(options, progress).run(printer);
        }
        if (memory) {
            new MemoryBench(options.ops(), progress).run(printer);
        }
        return right;
    }

    private boolean race(BenchOptions options, Printer printer, Progress progress) throws InterruptedException {
        try (Contenders contenders = new Contenders()) {
            RaceBench race = new RaceBench(options, progress, contenders);
            if (!quick && !skipPeers && options.pushers().contains(1)) {
                race.addServices();
            }
            race.addCommands(peers, peerReps);
            return race.run(printer);
        }
    }

    private BenchOptions options(int manyOps) {
        int usualOps = quick ? QUICK_OPS : manyOps;
        int usualReps = quick ? 3 : 11;
        int usualWarmUps = quick ? 5 : 10;
        return new BenchOptions(or(ops, usualOps), spin, or(reps, usualReps), or(warmUps, usualWarmUps),
                or(workloads, Workload.NAMES),
                or(engines, List.of(EngineSetting.PER_DEVICE)), or(workers, List.of(1, 2)),
                or(pushers, List.of(1, 2, 4)));
    }

    private static int or(@Nullable Integer given, int usual) {
        return given == null ? usual : given;
    }

    private static <T> List<T> or(List<T> given, List<T> usual) {
        return given.isEmpty() ? usual : given;
    }
}
