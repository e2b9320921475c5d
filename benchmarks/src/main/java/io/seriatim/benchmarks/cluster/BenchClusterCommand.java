package io.seriatim.benchmarks.cluster;

import io.seriatim.benchmarks.common.Printer;
import io.seriatim.cli.spi.AtLeast;
import io.seriatim.cli.text.Machine;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Measures data-parallel training on an emulated network, and models it for many ranks. */
@Command(name = "cluster", description = "Measure data-parallel training of several processes on this machine, over "
        + "proxies that limit bandwidth and add a delay, and compare it with a model of up to 1,024 ranks.",
        footer = {"",
                "An exchange is hidden while its rank computes on another thread. Steps are taken in turn without "
                        + "limits and with them, by the same processes; the model is given the time lines of steps without."})
public final class BenchClusterCommand implements Callable<Integer> {
    private static final double GIGABIT = 1e9 / Byte.SIZE;
    private static final int WARM_UPS = 40;
    private static final int QUICK_WARM_UPS = 5;
    private static final int QUICK_STEPS = 3;

    @Spec
    private @Nullable CommandSpec spec;

    @Option(names = "--network", paramLabel = "NET", split = ",", description = "Train these of "
            + "${COMPLETION-CANDIDATES}; names.")
    private List<TrainedNetwork> networks = new ArrayList<>(List.of(TrainedNetwork.NAMES));

    @Option(names = "--ranks", paramLabel = "N", split = ",", defaultValue = "2", description = "Numbers of "
            + "processes. Default: ${DEFAULT-VALUE}.")
    private List<Integer> ranks = new ArrayList<>();

    @Option(names = "--batch", paramLabel = "N", defaultValue = "32", description = "Examples of each process. "
            + "Default: ${DEFAULT-VALUE}.")
    private int batch = 32;

    @Option(names = "--threads", paramLabel = "N", defaultValue = "2", description = "Of each process: one can wait "
            + "for an exchange while the other computes. Default: ${DEFAULT-VALUE}.")
    private int threads = 2;

    @Option(names = "--gbit", paramLabel = "G", defaultValue = "1", description = "Gigabits a second that a process "
            + "sends, and receives. Default: ${DEFAULT-VALUE}.")
    private double gigabits = 1;

    @Option(names = "--delay", paramLabel = "MS", defaultValue = "1", description = "Milliseconds from one process to "
            + "another. Default: ${DEFAULT-VALUE}.")
    @AtLeast(0)
    private double delay = 1;

    @Option(names = "--steps", paramLabel = "N", defaultValue = "20", description = "Steps of a round. Default: "
            + "${DEFAULT-VALUE}.")
    private int steps = 20;

    @Option(names = "--rounds", paramLabel = "N", defaultValue = "3", description = "Rounds without limits and with "
            + "them, in turn; the medians count. Default: ${DEFAULT-VALUE}.")
    private int rounds = 3;

    @Option(names = "--fastest",
            description = "The fastest step and sum count instead of medians: for machines that do "
                    + "other work, too.")
    private boolean fastest;

    @Option(names = "--wires", description = "Also measure sums between directly connected processes: of float32, as "
            + "bfloat16 on the wire, and with TLS, for which the JDK's keytool makes a key.")
    private boolean wires;

    @Option(names = "--peers", description = "Measure sums and training steps of directly connected processes of one "
            + "thread beside torch.distributed over Gloo and Open MPI, where they are installed, and nothing else.")
    private boolean peers;

    @Option(names = "--python", paramLabel = "PATH", defaultValue = "python3",
            description = "The Python that has torch. "
                    + "Default: ${DEFAULT-VALUE}.")
    private String python = "python3";

    @Option(names = "--scale", description = "Print the model's steps for 8 to 1,024 ranks.")
    private boolean scale;

    @Option(names = "--svg", paramLabel = "F", description = "Draw the model's efficiency over ranks.")
    private @Nullable Path svg;

    @Option(names = "--quick", description = "A round of three steps after five: some seconds for each number of "
            + "processes.")
    private boolean quick;

    @Option(names = "--markdown", description = "Print tables for a document.")
    private boolean markdown;

    /** Created by the command line parser. */
    public BenchClusterCommand() {
        // picocli sets the fields by reflection.
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        CommandSpec command = Objects.requireNonNull(spec, "spec");
        for (int count : ranks) {
            if (count < 2) {
                throw new ParameterException(command.commandLine(), "--ranks must be 2 or more, but is " + count);
            }
        }
        Printer printer = new Printer(command.commandLine().getOut(), markdown);
        printer.line(Machine.describe());
        if (peers) {
            comparePeers(printer);
        } else {
            emulate(printer);
        }
        return 0;
    }

    private void comparePeers(Printer printer) throws IOException, InterruptedException {
        PeerBench bench = new PeerBench(python, batch, quick ? QUICK_WARM_UPS : WARM_UPS, quick ? QUICK_STEPS : steps,
                quick ? 1 : rounds, quick ? PeerBench.SIZES.subList(0, 2) : PeerBench.SIZES, this::notice);
        List<PeerBench.Measured> measured = new ArrayList<>();
        for (int count : ranks) {
            measured.add(bench.measure(count, networks));
        }
        printer.print("Sums of float32 over all ranks, fastest; ÷ is ours divided by the peer's rate",
                PeerBench.sums(measured));
        printer.print("Training steps, fastest; ÷ is ours divided by the other's time", PeerBench.steps(measured));
    }

    private void emulate(Printer printer) throws IOException {
        EmulatedNetwork.Limits limits = new EmulatedNetwork.Limits(gigabits * GIGABIT, (long) (delay * 1e6));
        ClusterBench bench = new ClusterBench(limits, batch, threads, quick ? QUICK_WARM_UPS : WARM_UPS,
                quick ? QUICK_STEPS : steps, quick ? 1 : rounds, fastest, this::notice);
        List<ClusterBench.Measured> measured = new ArrayList<>();
        for (TrainedNetwork network : networks) {
            for (int count : ranks) {
                measured.add(bench.measure(network, count));
            }
        }
        ClusterTables tables = new ClusterTables(measured, limits);
        printer.print("Sums over all ranks, " + (fastest ? "fastest" : "medians"), tables.sums());
        printer.print("Training steps, " + (fastest ? "fastest" : "medians"), tables.steps());
        if (wires) {
            WireBench wire = new WireBench(threads, quick ? QUICK_STEPS : steps, quick ? 1 : rounds,
                    quick ? WireBench.SIZES.subList(0, 2) : WireBench.SIZES, this::notice);
            List<WireBench.Measured> sums = new ArrayList<>();
            for (int count : ranks) {
                sums.addAll(wire.measure(count));
            }
            printer.print("Sums of float32 between processes of this machine by their wire, fastest",
                    WireBench.table(sums));
        }
        if (scale) {
            for (ScaleForecast.Series each : tables.forecast().series()) {
                printer.print("Model: " + each.label(), ScaleForecast.table(each));
            }
            printer.print("Model: most ranks at which the ring is the fastest way, by the size of the sum",
                    tables.forecast().ring());
        }
        if (svg != null) {
            Files.writeString(svg, new ScaleChart(tables.forecast().series()).svg());
        }
    }

    private void notice(String line) {
        PrintWriter err = Objects.requireNonNull(spec, "spec").commandLine().getErr();
        err.println(line);
        err.flush();
    }
}
