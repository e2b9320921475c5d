package io.seriatim.cli.bench.train;

import io.seriatim.cli.bench.PeerUnavailableException;
import io.seriatim.cli.bench.Printer;
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

/** Measures training steps and single calls, as peers do the same. */
@Command(name = "train", description = "Measure training steps and single calls of whole networks, each in a process of its own, and print JSON lines.")
public final class BenchTrainCommand implements Callable<Integer> {
    @Spec
    private @Nullable CommandSpec spec;

    @Option(names = "--work", paramLabel = "WORK", split = ",", description = "Only these of ${COMPLETION-CANDIDATES}.")
    private List<TrainWork> works = new ArrayList<>();

    @Option(names = "--threads", paramLabel = "N", split = ",", description = "Numbers of threads; 1,2, only 1 with --quick.")
    private List<Integer> threads = new ArrayList<>();

    @Option(names = "--quick", description = "A tenth of the steps: some seconds.")
    private boolean quick;

    @Option(names = "--peers", paramLabel = "DIR", description = "Run DIR/python/torch_bench.py in turn with ours, with the Python of the environment variable "
            + TorchPeer.PYTHON + " (python3), and print the ratios.")
    private @Nullable Path peers;

    /** Made by the command line. */
    public BenchTrainCommand() {
        // The fields are filled by reflection.
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        CommandSpec command = Objects.requireNonNull(spec, "spec");
        for (int count : threads) {
            if (count < 1) {
                throw new ParameterException(command.commandLine(), "--threads must be at least 1, but is " + count);
            }
        }
        PrintWriter out = command.commandLine().getOut();
        TorchPeer peer = peers == null ? null : TorchPeer.in(peers);
        Ratios ratios = new Ratios("torch");
        boolean compared = false;
        Set<TrainWork> chosen = works.isEmpty() ? EnumSet.allOf(TrainWork.class) : EnumSet.copyOf(works);
        for (int count : counts()) {
            for (TrainWork work : chosen) {
                List<Figures> ours = print(out, ours(work, count));
                compared |= peer != null && compare(ours, peer, work, count, ratios);
            }
        }
        if (compared) {
            out.println();
            new Printer(out, true).print("Ratios of ours to the peer's in the same run", ratios.table());
        }
        return 0;
    }

    private List<Integer> counts() {
        if (!threads.isEmpty()) {
            return threads;
        }
        return quick ? List.of(1) : List.of(1, 2);
    }

    /** With several threads the faster of two ways to use them. */
    private List<Figures> ours(TrainWork work, int count) throws IOException, InterruptedException {
        List<Figures> whole = new WorkProcess(work, count, false, quick).inOwnProcess();
        if (count == 1 || !work.trains()) {
            return whole;
        }
        Figures executor = whole.getFirst();
        Figures split = new WorkProcess(work, count, true, quick).inOwnProcess().getFirst();
        Figures best = work.isSameWhenSplit() && split.time() < executor.time() ? split : executor;
        return List.of(best.with("executor_ms", executor.time(), 3).with("split_ms", split.time(), 3));
    }

    private boolean compare(List<Figures> ours, TorchPeer peer, TrainWork work, int count, Ratios ratios) throws InterruptedException {
        CommandSpec command = Objects.requireNonNull(spec, "spec");
        String name = work.peer();
        if (name == null) {
            command.commandLine().getErr().println("torch: has no " + work.label());
            return false;
        }
        try {
            List<Figures> theirs = print(command.commandLine().getOut(), peer.run(name, count));
            for (Figures figures : ours) {
                theirs.stream().filter(other -> isSameWork(figures, other)).forEach(other -> ratios.row(figures, other));
            }
            return true;
        } catch (PeerUnavailableException e) {
            command.commandLine().getErr().println("torch: " + work.label() + " is left out: " + e.getMessage());
            return false;
        }
    }

    private static boolean isSameWork(Figures ours, Figures other) {
        return ours.text("work").equals(other.text("work"));
    }

    private static List<Figures> print(PrintWriter out, List<Figures> figures) {
        figures.forEach(out::println);
        out.flush();
        return figures;
    }
}
