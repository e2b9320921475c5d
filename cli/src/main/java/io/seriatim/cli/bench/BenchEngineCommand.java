package io.seriatim.cli.bench;

import java.io.Console;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Measures the engine against the serial loop, against futures, and against other engines. */
@Command(name = "engine", description = "Measure the dependency engine: nanoseconds per operation, against others in the same run.", footer = {"",
        "Workloads: chain, independent, random, fan, wavefront. Every contender's result is compared with the serial loop's.",
        "With several pushing threads, each pushes a program of its own, of its share of the operations."})
public final class BenchEngineCommand implements Callable<Integer> {
    private static final List<Integer> DEFAULT_WORKERS = List.of(1, 2);

    @Spec
    private @Nullable CommandSpec spec;

    @Option(names = "--ops", paramLabel = "N", description = "Operations of each workload; 200000, 20000 with --quick.")
    private @Nullable Integer ops;

    @Option(names = "--spin", paramLabel = "N", description = "Extra loop turns of each operation; 0.")
    private int spin;

    @Option(names = "--reps", paramLabel = "N", description = "Rounds that count; 11, 3 with --quick.")
    private @Nullable Integer reps;

    @Option(names = "--warmup", paramLabel = "N", description = "Rounds before them; 10, 5 with --quick.")
    private @Nullable Integer warmUps;

    @Option(names = "--quick", description = "Few operations and rounds, only what the command itself holds: a few seconds.")
    private boolean quick;

    @Option(names = "--workload", paramLabel = "NAME", split = ",", description = "Only these workloads.")
    private List<String> workloads = new ArrayList<>();

    @Option(names = "--engine", paramLabel = "KIND", split = ",", description = "Our engines: ${COMPLETION-CANDIDATES}; per-device.")
    private List<EngineSetting> engines = new ArrayList<>();

    @Option(names = "--workers", paramLabel = "N", split = ",", description = "Numbers of workers; 1,2.")
    private List<Integer> workers = new ArrayList<>();

    @Option(names = "--pushers", paramLabel = "N", split = ",", description = "Numbers of pushing threads; 1,2,4.")
    private List<Integer> pushers = new ArrayList<>();

    @Option(names = "--peer", paramLabel = "NAME=COMMAND",
            description = "Another engine: a program that takes operations, turns and repetitions and prints a line a workload. Repeatable.")
    private Map<String, String> peers = new LinkedHashMap<>();

    @Option(names = "--peer-reps", paramLabel = "N", description = "Repetitions in each start of such a program, whose median counts; 5.")
    private int peerReps = 5;

    @Option(names = "--skip-peers", description = "Do not look for other engines on the class path.")
    private boolean skipPeers;

    @Option(names = "--memory", description = "Instead: bytes of a pending operation.")
    private boolean memory;

    @Option(names = "--recorder", description = "Instead: what recording costs.")
    private boolean recorder;

    @Option(names = "--speedup", description = "Instead: workers against the serial loop with operations of 1 µs; --ops is 50000.")
    private boolean speedup;

    @Option(names = "--markdown", description = "Print tables for a README.")
    private boolean markdown;

    /** Made by the command line. */
    public BenchEngineCommand() {
        // The fields are filled by reflection.
    }

    @Override
    public Integer call() throws InterruptedException {
        CommandSpec command = Objects.requireNonNull(spec, "spec");
        BenchOptions options;
        try {
            BenchOptions.atLeast("--peer-reps", 1, peerReps);
            options = options();
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
            right &= new SpeedupBench(options, progress).run(printer);
        }
        if (recorder) {
            right &= new RecorderBench(options, progress).run(printer);
        }
        if (memory) {
            new MemoryBench(options.ops(), progress).run(printer);
        }
        return right;
    }

    private BenchOptions options() {
        int usualOps = quick ? 20_000 : speedup ? 50_000 : 200_000;
        return new BenchOptions(or(ops, usualOps), spin, or(reps, quick ? 3 : 11), or(warmUps, quick ? 5 : 10), or(workloads, Workload.NAMES),
                or(engines, List.of(EngineSetting.PER_DEVICE)), or(workers, DEFAULT_WORKERS), or(pushers, List.of(1, 2, 4)));
    }

    private static int or(@Nullable Integer given, int usual) {
        return given == null ? usual : given;
    }

    private static <T> List<T> or(List<T> given, List<T> usual) {
        return given.isEmpty() ? usual : given;
    }

    private boolean race(BenchOptions options, Printer printer, Progress progress) throws InterruptedException {
        boolean right = true;
        try (Contenders contenders = new Contenders()) {
            contenders.add(new SerialLoop());
            contenders.addOurs(options);
            contenders.addFutures(options);
            if (!quick && !skipPeers && options.pushers().contains(1)) {
                addFound(contenders, options, progress);
            }
            peers.forEach((name, line) -> contenders.add(new CommandPeer(name, line, peerReps)));
            for (int threads : options.pushers()) {
                progress.stage(threads + (threads == 1 ? " pushing thread" : " pushing threads"));
                Standings standings = new Race(contenders.pushedBy(threads), progress).run(options.works(threads, options.spin()), options.warmUps(),
                        options.reps());
                RaceReport report = new RaceReport(standings);
                printer.print(title(options, threads), report.times());
                printer.print("Our median divided by the other's", report.ratios());
                right &= !standings.anyWrong();
            }
        }
        return right;
    }

    private static String title(BenchOptions options, int threads) {
        return "Nanoseconds per operation: " + Printer.count(options.ops()) + " operations, " + options.spin() + " extra turns each, " + options.reps()
                + " rounds, pushed by " + threads + (threads == 1 ? " thread" : " threads");
    }

    private static void addFound(Contenders contenders, BenchOptions options, Progress progress) throws InterruptedException {
        try {
            for (EnginePeer peer : ServiceLoader.load(EnginePeer.class)) {
                addFound(contenders, peer, options, progress);
            }
        } catch (ServiceConfigurationError e) {
            progress.notice("another engine cannot be loaded: " + e.getMessage());
        }
    }

    private static void addFound(Contenders contenders, EnginePeer peer, BenchOptions options, Progress progress) throws InterruptedException {
        try {
            for (int workers : options.workers()) {
                contenders.add(ServicePeer.open(peer, workers, progress::notice));
            }
        } catch (PeerUnavailableException e) {
            progress.notice(peer.name() + " is not compared: " + e.getMessage());
        }
    }
}
