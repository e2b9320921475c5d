package io.seriatim.benchmarks.serve;

import io.seriatim.benchmarks.common.PeerUnavailableException;
import io.seriatim.benchmarks.common.Printer;
import io.seriatim.benchmarks.train.ServedNetwork;
import io.seriatim.cli.spi.AtLeast;
import io.seriatim.cli.text.Machine;
import io.seriatim.cli.text.Table;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Measures requests of one example each. */
@Command(name = "serve", description = "Measure requests to one plan from several threads: an array of floats in "
        + "and one out, beside others in the same run.")
public final class BenchServeCommand implements Callable<Integer> {
    private static final double QUICK_SECONDS = 0.1;
    private static final String ALONE = "one by one";

    @Spec
    private @Nullable CommandSpec spec;

    @Option(names = "--work", paramLabel = "WORK", split = ",", description = "The networks of these works only: "
            + "${COMPLETION-CANDIDATES}.")
    private List<ServedNetwork> works = new ArrayList<>();

    @Option(names = "--clients", defaultValue = "1,2,4,8", paramLabel = "N", split = ",",
            description = "Numbers of threads that make requests. Default: ${DEFAULT-VALUE}.")
    private List<Integer> clients = new ArrayList<>();

    @Option(names = "--rounds", defaultValue = "3", paramLabel = "N", description = "Slices of time for each "
            + "number of clients, ours and the peers' in turn; the medians count. Default: ${DEFAULT-VALUE}.")
    private int rounds = 3;

    @Option(names = "--seconds", defaultValue = "1.5", paramLabel = "S", description = "Of a slice of time. "
            + "Default: ${DEFAULT-VALUE}.")
    private double seconds = 1.5;

    @Option(names = "--batch", defaultValue = "0", paramLabel = "N", description = "Join requests that wait to "
            + "batches of up to N, beside the same plan without. Default: ${DEFAULT-VALUE}, none.")
    @AtLeast(0)
    private int batch;

    @Option(names = "--quick", description = "Slices of a tenth of a second, and only what the command itself holds.")
    private boolean quick;

    @Option(names = "--skip-peers", description = "Do not look for other systems on the class path.")
    private boolean skipPeers;

    /** Created by the command line parser. */
    public BenchServeCommand() {
        // picocli sets the fields by reflection.
    }

    @Override
    public Integer call() throws InterruptedException {
        CommandSpec command = Objects.requireNonNull(spec, "spec");
        clients.forEach(count -> require("--clients", count >= 1, "more than nothing", count));
        require("--rounds", rounds >= 1, "more than nothing", rounds);
        require("--batch", batch >= 0, "0 or more", batch);
        double length = quick ? QUICK_SECONDS : seconds;
        require("--seconds", length > 0, "more than nothing", length);
        List<ServePeer> peers = quick || skipPeers
                ? List.of()
                : ServiceLoader.load(ServePeer.class).stream().map(ServiceLoader.Provider::get).toList();
        List<String> names = new ArrayList<>(batch > 0 ? List.of(ALONE) : List.of());
        peers.forEach(peer -> names.add(peer.name()));
        Table table = ServeBench.table(names);
        Printer printer = new Printer(command.commandLine().getOut(), true);
        printer.line(Machine.describe());
        Set<ServedNetwork> chosen = works.isEmpty() ? EnumSet.allOf(ServedNetwork.class) : EnumSet.copyOf(works);
        for (ServedNetwork served : chosen) {
            measure(served, peers, new ServeBench(rounds, (long) (length * 1e9), clients), names, table);
        }
        printer.print("Requests of one example, one thread each", table);
        return 0;
    }

    private void require(String option, boolean right, String rule, Object value) {
        if (!right) {
            throw new ParameterException(Objects.requireNonNull(spec, "spec").commandLine(),
                    option + " must be " + rule + ", but is " + value);
        }
    }

    private void measure(ServedNetwork served, List<ServePeer> peers, ServeBench bench, List<String> names, Table table)
            throws InterruptedException {
        Map<String, ServePeer.Session> services = new LinkedHashMap<>();
        try {
            if (batch > 0) {
                services.put(ServeBench.OURS, JoinedService.of(served, batch));
            }
            PlanService ours = PlanService.of(served);
            services.put(batch > 0 ? ALONE : ServeBench.OURS, ours);
            for (ServePeer peer : peers) {
                try {
                    services.put(peer.name(),
                            peer.open(ours.network(), ours.parameters(), ours.fed(), ours.fetched(), this::notice));
                } catch (PeerUnavailableException e) {
                    notice(peer.name() + ": " + served + " is left out: " + e.getMessage());
                }
            }
            notice(served + ", " + String.join(" and ", services.keySet()));
            bench.run(served.name(), ours.size(), services, names, table);
        } finally {
            services.values().forEach(ServePeer.Session::close);
        }
    }

    private void notice(String line) {
        PrintWriter err = Objects.requireNonNull(spec, "spec").commandLine().getErr();
        err.println(line);
        err.flush();
    }
}
