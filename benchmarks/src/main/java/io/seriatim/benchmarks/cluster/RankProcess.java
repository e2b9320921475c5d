package io.seriatim.benchmarks.cluster;

import io.seriatim.cluster.Cluster;
import io.seriatim.cluster.ClusterOptions;
import io.seriatim.cluster.Rendezvous;
import io.seriatim.cluster.Tls;
import io.seriatim.device.Place;
import io.seriatim.executor.Executor;
import io.seriatim.executor.Feeds;
import io.seriatim.executor.Fetches;
import io.seriatim.executor.Plan;
import io.seriatim.executor.trace.RunRecorder;
import io.seriatim.executor.trace.RunTrace;
import io.seriatim.graph.parallel.DataParallel;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.train.Model;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;

/**
 * A rank in a process of its own. It prints its address, reads those of all ranks, and then does what it is told by
 * lines on its standard input until that ends: {@code steps COUNT} trains, {@code sum BYTES COUNT WIRE} sums memory
 * of that size over all ranks, which travels as a type. It prints one line for each.
 */
final class RankProcess {
    /** Sums that are measured together: what is late for one is early for the next. */
    private static final int IN_A_ROW = 8;

    private final BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    private final PrintStream out = System.out;
    private final TrainedNetwork network;
    private final int batch;
    private final int threads;
    private final boolean isFastest;

    private RankProcess(TrainedNetwork network, int batch, int threads, boolean isFastest) {
        this.network = network;
        this.batch = batch;
        this.threads = threads;
        this.isFastest = isFastest;
    }

    private String line() {
        try {
            return in.readLine();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void run(ClusterOptions options) {
        Rendezvous launcher = Rendezvous.gather(address -> {
            out.println(address);
            return List.of(Objects.requireNonNull(line(), "the addresses of all ranks").split(" ", -1));
        });
        Model model = network.model();
        RunRecorder recorder = new RunRecorder().pause();
        try (Cluster cluster = Cluster.join(options, launcher);
                Executor executor = Executor.builder().threads(threads).communicator(cluster).recorder(recorder)
                        .build()) {
            DataParallel parallel = DataParallel.of(model.main(), model.startup(), model.feeds(), model.loss(),
                    List.of(model.loss()), List.of(Place.CPU)).ofRank(options.rank(), options.ranks());
            executor.run(parallel.startup());
            model.schedules().forEach((name, schedule) -> executor.scope().set(name,
                    Tensor.of(model.main().global().get(name).tensor().dtype(), new double[]{schedule.rate(1)},
                            model.main().global().get(name).tensor().shape())));
            Plan plan = executor.compile(parallel.main(), new Feeds(parallel.feedNames()),
                    new Fetches(List.of(parallel.loss())));
            Tensor[] data = network.data(model, batch, options.rank());
            List<Long> exchanged = TrainedNetwork.exchanged(parallel.main());
            for (String command = line(); command != null; command = line()) {
                String[] words = command.split(" ", -1);
                out.println(switch (words[0]) {
                    case "steps" -> {
                        int count = Integer.parseInt(words[1]);
                        recorder.resume();
                        for (int i = 0; i < count; i++) {
                            plan.run(data).get(parallel.loss()).close();
                        }
                        recorder.pause();
                        List<RunTrace.Run> runs = recorder.trace().runs();
                        yield RankSteps.of(chosen(runs.subList(runs.size() - count, runs.size())), exchanged).line();
                    }
                    case "sum" -> sum(cluster, Long.parseLong(words[1]), Integer.parseInt(words[2]),
                            DType.valueOf(words[3]));
                    default -> throw new IllegalArgumentException("'" + command + "' is no command of a rank");
                });
            }
        }
    }

    private List<RunTrace.Run> chosen(List<RunTrace.Run> runs) {
        return isFastest
                ? List.of(Collections.min(runs, Comparator.comparingLong(RunTrace.Run::duration)))
                : runs;
    }

    /** Returns the median nanoseconds of a sum, or the least. */
    private double sum(Cluster cluster, long bytes, int count, DType wire) {
        List<Double> nanos = new ArrayList<>();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment data = arena.allocate(bytes, Float.BYTES);
            for (int i = 0; i < count; i++) {
                long before = System.nanoTime();
                for (int k = 0; k < IN_A_ROW; k++) {
                    cluster.allReduce(data, DType.FLOAT32, wire);
                }
                nanos.add((double) (System.nanoTime() - before) / IN_A_ROW);
            }
        }
        return isFastest
                ? Collections.min(nanos)
                : RankSteps.median(nanos.stream().mapToDouble(Double::doubleValue).toArray());
    }

    /**
     * Runs a rank.
     *
     * @param args
     *            the number of the rank, that of all ranks, the network, the batch of a rank and its threads, and
     *            whether the fastest step counts instead of the median, the stores for TLS, empty without, and the
     *            folder of Unix-domain sockets, empty for TCP
     */
    public static void main(String[] args) throws IOException {
        byte[] secret = System.getenv(RankGroup.SECRET).getBytes(StandardCharsets.UTF_8);
        ClusterOptions options = ClusterOptions.of(Integer.parseInt(args[0]), Integer.parseInt(args[1]), secret);
        if (!args[6].isEmpty()) {
            options = options.tls(Tls.stores(Path.of(args[6]), Path.of(args[7]),
                    System.getenv(RankKeys.PASSWORD).toCharArray()));
        }
        if (!args[8].isEmpty()) {
            options = options.unixSockets(Path.of(args[8]));
        }
        new RankProcess(TrainedNetwork.valueOf(args[2]), Integer.parseInt(args[3]), Integer.parseInt(args[4]),
                Boolean.parseBoolean(args[5])).run(options);
    }
}
