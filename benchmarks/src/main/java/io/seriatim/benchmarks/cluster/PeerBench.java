package io.seriatim.benchmarks.cluster;

import io.seriatim.benchmarks.common.PeerUnavailableException;
import io.seriatim.cli.text.Table;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Measures sums and training steps of ranks on this machine beside torch.distributed over Gloo and Open MPI, one thread
 * a rank. All take turns in each round, and the fastest counts.
 *
 * @param python
 *            the interpreter that has torch
 * @param batch
 *            the examples of a rank
 * @param warmUps
 *            steps before the first round
 * @param count
 *            how often a round measures each
 * @param rounds
 *            of measurement
 * @param sizes
 *            bytes of the sums
 * @param notice
 *            is told what is measured
 */
record PeerBench(String python, int batch, int warmUps, int count, int rounds, List<Long> sizes,
        Consumer<String> notice) {
    /** Of a bias, a matrix and networks. */
    static final List<Long> SIZES = List.of(4L << 10, 64L << 10, 1L << 20, 10L << 20, 100L << 20);

    /** Small sums are repeated until the JIT has compiled them, as in training. */
    private static final long WARM_BYTES = 16L << 20;
    private static final int MOST_REPEATS = 500;

    private static final String SHARED = "shared memory";
    private static final String TCP = "TCP";
    private static final String GLOO = "Gloo";
    private static final String MPI_TCP = "Open MPI, TCP";
    private static final String MPI_MEMORY = "Open MPI, memory";
    private static final String PLACES = "places of one process";

    /**
     * What was measured.
     *
     * @param ranks
     *            the number of processes
     * @param sums
     *            nanoseconds by bytes and system
     * @param steps
     *            nanoseconds by network and system
     */
    record Measured(int ranks, Map<Long, Map<String, Double>> sums, Map<String, Map<String, Double>> steps) {
    }

    /** Nanoseconds by what is measured. */
    private interface Timing {
        double nanos() throws IOException, PeerUnavailableException;
    }

    Measured measure(int ranks, List<TrainedNetwork> networks) throws IOException, InterruptedException {
        Path sockets = Files.createTempDirectory("seriatim-ranks");
        try (@Nullable
        PeerGroup gloo = peer(() -> PeerGroup.gloo(python, ranks));
                @Nullable
                PeerGroup tcp = peer(() -> PeerGroup.mpi("tcp", ranks));
                @Nullable
                PeerGroup memory = peer(() -> PeerGroup.mpi("vader", ranks))) {
            Map<Long, Map<String, Double>> sums = sums(ranks, sockets, gloo, tcp, memory);
            Map<String, Map<String, Double>> steps = new LinkedHashMap<>();
            for (TrainedNetwork network : networks) {
                steps.put(network.name().toLowerCase(Locale.ROOT), steps(ranks, network, sockets, gloo));
            }
            return new Measured(ranks, sums, steps);
        } finally {
            Files.deleteIfExists(sockets);
        }
    }

    private Map<Long, Map<String, Double>> sums(int ranks, Path sockets, @Nullable PeerGroup gloo,
            @Nullable PeerGroup tcp, @Nullable PeerGroup memory) throws IOException {
        notice.accept("sums of " + ranks + " processes");
        Map<Long, Map<String, Double>> sums = new LinkedHashMap<>();
        try (RankGroup near = RankGroup.local(ranks, TrainedNetwork.NAMES, 1, 1, sockets);
                RankGroup direct = RankGroup.direct(ranks, TrainedNetwork.NAMES, 1, 1, null)) {
            for (long bytes : sizes) {
                int repeats = Math.max(count, (int) Math.min(WARM_BYTES / bytes, MOST_REPEATS));
                Map<String, Timing> systems = new LinkedHashMap<>();
                systems.put(SHARED, () -> near.sum(EmulatedNetwork.NONE, bytes, repeats));
                systems.put(TCP, () -> direct.sum(EmulatedNetwork.NONE, bytes, repeats));
                String command = "sum " + bytes + " " + repeats;
                add(systems, GLOO, gloo, command);
                add(systems, MPI_TCP, tcp, command);
                add(systems, MPI_MEMORY, memory, command);
                sums.put(bytes, inTurn(systems));
            }
        }
        return sums;
    }

    private Map<String, Double> steps(int ranks, TrainedNetwork network, Path sockets, @Nullable PeerGroup gloo)
            throws IOException {
        notice.accept("steps of " + network.name().toLowerCase(Locale.ROOT) + " on " + ranks + " processes");
        try (RankGroup near = RankGroup.local(ranks, network, batch, 1, sockets);
                OneProcess one = new OneProcess(ranks, network, batch)) {
            Map<String, Timing> systems = new LinkedHashMap<>();
            systems.put(SHARED, () -> near.steps(EmulatedNetwork.NONE, count).step());
            systems.put(PLACES, () -> one.steps(count));
            add(systems, GLOO, gloo, "steps " + count + " " + network.sizes() + " " + batch);
            near.steps(EmulatedNetwork.NONE, warmUps);
            one.steps(warmUps);
            return inTurn(systems);
        }
    }

    private static void add(Map<String, Timing> systems, String name, @Nullable PeerGroup peer, String command) {
        if (peer != null) {
            systems.put(name, () -> peer.ask(command));
        }
    }

    /** Returns the least time of each system; one that fails is left out from then on. */
    private Map<String, Double> inTurn(Map<String, Timing> systems) throws IOException {
        Map<String, Double> least = new LinkedHashMap<>();
        Map<String, Timing> left = new LinkedHashMap<>(systems);
        for (int round = 0; round <= rounds; round++) {
            for (Map.Entry<String, Timing> each : List.copyOf(left.entrySet())) {
                String name = each.getKey();
                try {
                    double nanos = each.getValue().nanos();
                    // The first round warms up.
                    if (round > 0) {
                        least.merge(name, nanos, Math::min);
                    }
                } catch (PeerUnavailableException e) {
                    notice.accept(e.getMessage());
                    left.remove(name);
                    least.remove(name);
                }
            }
        }
        return least;
    }

    /** Starts another system. */
    private interface Start {
        PeerGroup peer() throws IOException, PeerUnavailableException, InterruptedException;
    }

    /** Returns a peer, or null if it is not installed: a message tells so. */
    private @Nullable PeerGroup peer(Start start) throws IOException, InterruptedException {
        try {
            PeerGroup peer = start.peer();
            notice.accept("beside " + peer.version());
            return peer;
        } catch (PeerUnavailableException e) {
            notice.accept(e.getMessage() + "; not compared");
            return null;
        }
    }

    /** Returns MB/s of the sums, and ours divided by those of the peers. */
    static Table sums(List<Measured> measured) {
        List<String> columns = new ArrayList<>(List.of("ranks", "KiB"));
        for (String system : List.of(SHARED, TCP)) {
            columns.add(system + ", MB/s");
        }
        for (String peer : List.of(GLOO, MPI_TCP, MPI_MEMORY)) {
            columns.addAll(List.of(peer + ", MB/s", SHARED + " ÷", TCP + " ÷"));
        }
        Table table = new Table(columns);
        for (Measured each : measured) {
            each.sums().forEach((bytes, nanos) -> {
                List<String> row = new ArrayList<>(Arrays.asList(Integer.toString(each.ranks()),
                        Long.toString(bytes >> 10), rate(bytes, nanos.get(SHARED)), rate(bytes, nanos.get(TCP))));
                for (String peer : List.of(GLOO, MPI_TCP, MPI_MEMORY)) {
                    row.add(rate(bytes, nanos.get(peer)));
                    row.add(ratio(nanos.get(peer), nanos.get(SHARED)));
                    row.add(ratio(nanos.get(peer), nanos.get(TCP)));
                }
                table.row(row);
            });
        }
        return table;
    }

    /** Returns the milliseconds of steps, and ours divided by the others. */
    static Table steps(List<Measured> measured) {
        Table table = new Table(List.of("network", "ranks", "ranks, ms", PLACES + ", ms", "÷", "DDP over Gloo, ms",
                "÷"));
        for (Measured each : measured) {
            each.steps().forEach((network, nanos) -> table.row(List.of(network, Integer.toString(each.ranks()),
                    millis(nanos.get(SHARED)), millis(nanos.get(PLACES)), ratio(nanos.get(SHARED), nanos.get(PLACES)),
                    millis(nanos.get(GLOO)), ratio(nanos.get(SHARED), nanos.get(GLOO)))));
        }
        return table;
    }

    private static String rate(long bytes, @Nullable Double nanos) {
        return nanos == null ? "–" : String.format(Locale.ROOT, "%.0f", bytes * 1e3 / nanos);
    }

    private static String millis(@Nullable Double nanos) {
        return nanos == null ? "–" : ClusterTables.millis(nanos);
    }

    private static String ratio(@Nullable Double part, @Nullable Double whole) {
        return part == null || whole == null ? "–" : String.format(Locale.ROOT, "%.2f", part / whole);
    }
}
