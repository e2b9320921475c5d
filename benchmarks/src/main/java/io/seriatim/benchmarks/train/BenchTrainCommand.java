package io.seriatim.benchmarks.train;

import io.seriatim.benchmarks.common.PeerUnavailableException;
import io.seriatim.benchmarks.common.Printer;
import io.seriatim.executor.Pass;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Measures training steps and inference calls, as the peers do. */
@Command(name = "train", description = "Measure training steps and single calls of whole networks, each in a "
        + "process of its own, and print JSON lines.")
public final class BenchTrainCommand implements Callable<Integer> {
    @Spec
    private @Nullable CommandSpec spec;

    @Option(names = "--work", paramLabel = "WORK", split = ",", description = "Only these of ${COMPLETION-CANDIDATES}.")
    private List<TrainWork> works = new ArrayList<>();

    @Option(names = "--threads", paramLabel = "N", split = ",", description = "Numbers of threads; 1,2, only 1 "
            + "with --quick.")
    private List<Integer> threads = new ArrayList<>();

    @Option(names = "--quick", description = "A tenth of the steps: some seconds.")
    private boolean quick;

    @Option(names = "--precision", defaultValue = "F32", paramLabel = "f32|bf16", description = "In what products "
            + "and convolutions of training steps are computed. Default: f32.")
    private Setting.Precision precision = Setting.Precision.F32;

    @Option(names = "--without", paramLabel = "PASS", split = ",", description = "Make plans without these passes: "
            + "${COMPLETION-CANDIDATES}.")
    private List<Pass> without = new ArrayList<>();

    @Option(names = "--peers", paramLabel = "DIR", description = "Run the peers in DIR/python and DIR/jvm in turn "
            + "with ours, and print the ratios. The environment variables SERIATIM_PEER_PYTHON and "
            + "SERIATIM_PEER_PADDLE_PYTHON name the Pythons that have PyTorch and PaddlePaddle.")
    private @Nullable Path peers;

    @Option(names = "--rounds", defaultValue = "1", paramLabel = "N", description = "How often each work is "
            + "measured, ours and the peers' in turn; tables have the medians. Default: ${DEFAULT-VALUE}.")
    private int rounds = 1;

    private boolean failed;

    /** Created by the command line parser. */
    public BenchTrainCommand() {
        // picocli sets the fields by reflection.
    }

    @Override
    public Integer call() throws InterruptedException {
        threads.forEach(count -> atLeastOne("--threads", count));
        atLeastOne("--rounds", rounds);
        Setting setting = new Setting(quick, precision, Set.copyOf(without));
        List<Peer> others = peers == null ? List.of() : Peer.in(peers, System::getenv, this::notice);
        Ratios ratios = new Ratios(others.stream().map(Peer::name).toList());
        for (int count : counts()) {
            for (TrainWork work : chosen()) {
                for (int round = 0; round < rounds; round++) {
                    ratios.add(work, print(ours(work, count, setting)));
                    for (Peer peer : others) {
                        ratios.add(work, print(theirs(peer, work, count)));
                    }
                }
            }
        }
        if (!others.isEmpty()) {
            Printer printer = new Printer(out(), true);
            out().println();
            printer.print("Times, and ours ÷ the fastest peer's", ratios.times());
            printer.print("Most memory of a process that trains, MB, and ours ÷ the least of the peers",
                    ratios.memory());
            printer.print("From the start to the end of the first step, s, and ours ÷ the fastest peer's",
                    ratios.firstSteps());
        }
        return failed ? 1 : 0;
    }

    private CommandSpec spec() {
        return Objects.requireNonNull(spec, "spec");
    }

    private PrintWriter out() {
        return spec().commandLine().getOut();
    }

    private void notice(String line) {
        PrintWriter err = spec().commandLine().getErr();
        err.println(line);
        err.flush();
    }

    private void atLeastOne(String option, int value) {
        if (value < 1) {
            throw new ParameterException(spec().commandLine(), option + " must be at least 1, but is " + value);
        }
    }

    private List<Integer> counts() {
        if (!threads.isEmpty()) {
            return threads;
        }
        return quick ? List.of(1) : List.of(1, 2);
    }

    /** Only training has mixed precision. */
    private Set<TrainWork> chosen() {
        Set<TrainWork> chosen = works.isEmpty() ? EnumSet.allOf(TrainWork.class) : EnumSet.copyOf(works);
        if (precision == Setting.Precision.BF16) {
            for (TrainWork work : EnumSet.allOf(TrainWork.class)) {
                if (!work.trains() && chosen.remove(work) && !works.isEmpty()) {
                    throw new ParameterException(spec().commandLine(),
                            "--precision bf16 is for works that train, but --work names " + work);
                }
            }
        }
        return chosen;
    }

    /**
     * Uses the faster of two ways to use several threads. A workload that fails is reported, and the others still run.
     */
    private List<Figures> ours(TrainWork work, int count, Setting setting) throws InterruptedException {
        try {
            List<Figures> whole = new WorkProcess(work, count, false, setting).inOwnProcess();
            if (count == 1 || !work.trains()) {
                return whole;
            }
            Figures executor = whole.getFirst();
            Figures split = new WorkProcess(work, count, true, setting).inOwnProcess().getFirst();
            Figures best = work.isSameWhenSplit() && split.time() < executor.time() ? split : executor;
            return List.of(best.with("executor_ms", executor.time(), 3).with("split_ms", split.time(), 3));
        } catch (IOException e) {
            failed = true;
            notice("seriatim: " + work + " with " + count + " threads failed: " + e.getMessage());
            return List.of();
        }
    }

    private List<Figures> theirs(Peer peer, TrainWork work, int count) throws InterruptedException {
        if (!peer.does(work)) {
            return List.of();
        }
        try {
            return peer.run(work, count);
        } catch (PeerUnavailableException e) {
            notice(peer.name() + ": " + work + " is left out: " + e.getMessage());
            return List.of();
        }
    }

    private List<Figures> print(List<Figures> figures) {
        figures.forEach(out()::println);
        out().flush();
        return figures;
    }
}
