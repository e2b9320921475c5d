package io.seriatim.benchmarks.cluster;

import io.seriatim.benchmarks.common.OwnProcess;
import io.seriatim.tensor.DType;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Ranks as processes of this machine, on an emulated network. */
final class RankGroup implements AutoCloseable {
    /** The variable of the environment with the secret of the ranks. */
    static final String SECRET = "SERIATIM_SECRET";

    private static final int SECRET_BYTES = 32;
    private static final long END_SECONDS = 10;

    private final List<Process> processes = new ArrayList<>();
    private final List<BufferedReader> outputs = new ArrayList<>();
    private final List<BufferedWriter> inputs = new ArrayList<>();
    private final List<Path> errors = new ArrayList<>();
    private final EmulatedNetwork network;

    private RankGroup(int ranks) {
        network = new EmulatedNetwork(ranks);
    }

    /** Starts the ranks, and connects them without limits. */
    static RankGroup start(int ranks, TrainedNetwork trained, int batch, int threads, boolean isFastest)
            throws IOException {
        return start(ranks, trained, batch, threads, isFastest, false, null, null);
    }

    /**
     * Starts ranks that TCP connects without proxies, so that there are no limits, with TLS if there are keys. Their
     * fastest steps and sums count.
     */
    static RankGroup direct(int ranks, TrainedNetwork trained, int batch, int threads, @Nullable RankKeys keys)
            throws IOException {
        return start(ranks, trained, batch, threads, true, true, keys, null);
    }

    /** The same with Unix-domain sockets, which are made in a folder. */
    static RankGroup local(int ranks, TrainedNetwork trained, int batch, int threads, Path folder)
            throws IOException {
        return start(ranks, trained, batch, threads, true, true, null, folder);
    }

    private static RankGroup start(int ranks, TrainedNetwork trained, int batch, int threads, boolean isFastest,
            boolean isDirect, @Nullable RankKeys keys, @Nullable Path sockets) throws IOException {
        RankGroup group = new RankGroup(ranks);
        try {
            byte[] secret = new byte[SECRET_BYTES];
            new SecureRandom().nextBytes(secret);
            for (int rank = 0; rank < ranks; rank++) {
                Path error = Files.createTempFile("seriatim-rank", ".err");
                group.errors.add(error);
                ProcessBuilder builder = new ProcessBuilder(OwnProcess.line(List.of("-Xmx512m", "-XX:+UseSerialGC"),
                        RankProcess.class.getName(), Integer.toString(rank), Integer.toString(ranks), trained.name(),
                        Integer.toString(batch), Integer.toString(threads), Boolean.toString(isFastest),
                        keys == null ? "" : keys.store().toString(), keys == null ? "" : keys.trusted().toString(),
                        sockets == null ? "" : sockets.toString()))
                        .redirectError(error.toFile());
                builder.environment().put(SECRET, HexFormat.of().formatHex(secret));
                if (keys != null) {
                    builder.environment().put(RankKeys.PASSWORD, keys.password());
                }
                Process process = builder.start();
                group.processes.add(process);
                group.outputs.add(process.inputReader(StandardCharsets.UTF_8));
                group.inputs.add(process.outputWriter(StandardCharsets.UTF_8));
            }
            List<String> addresses = group.answers();
            for (int rank = 0; rank < ranks; rank++) {
                group.tell(rank, String.join(" ",
                        isDirect ? addresses : group.network.addresses(rank, addresses)));
            }
            return group;
        } catch (IOException | RuntimeException e) {
            group.close();
            throw e;
        }
    }

    private void tell(int rank, String line) throws IOException {
        inputs.get(rank).write(line);
        inputs.get(rank).newLine();
        inputs.get(rank).flush();
    }

    private List<String> answers() throws IOException {
        List<String> answers = new ArrayList<>();
        for (int rank = 0; rank < outputs.size(); rank++) {
            String line = outputs.get(rank).readLine();
            if (line == null) {
                throw new IOException("Rank " + rank + " has ended: "
                        + new String(Files.readAllBytes(errors.get(rank)), StandardCharsets.UTF_8).strip());
            }
            answers.add(line);
        }
        return answers;
    }

    private List<String> ask(EmulatedNetwork.Limits limits, String command) throws IOException {
        network.limit(limits);
        for (int rank = 0; rank < inputs.size(); rank++) {
            tell(rank, command);
        }
        return answers();
    }

    /** Trains, and returns the steps of rank 0. */
    RankSteps steps(EmulatedNetwork.Limits limits, int count) throws IOException {
        return RankSteps.parse(ask(limits, "steps " + count).getFirst());
    }

    /** Returns the nanoseconds of a sum, those of the slowest rank. */
    double sum(EmulatedNetwork.Limits limits, long bytes, int count) throws IOException {
        return sum(limits, bytes, count, DType.FLOAT32);
    }

    /** Returns the nanoseconds of a sum of float32 that travels as another type. */
    double sum(EmulatedNetwork.Limits limits, long bytes, int count, DType wire) throws IOException {
        return ask(limits, "sum " + bytes + " " + count + " " + wire.name()).stream()
                .mapToDouble(Double::parseDouble).max().orElseThrow();
    }

    @Override
    public void close() throws IOException {
        // Ranks end when they are told nothing more.
        for (BufferedWriter each : inputs) {
            try {
                each.close();
            } catch (IOException e) {
                // It has ended already.
            }
        }
        for (Process each : processes) {
            try {
                if (!each.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
                    each.destroyForcibly();
                }
            } catch (InterruptedException e) {
                each.destroyForcibly();
                Thread.currentThread().interrupt();
            }
        }
        network.close();
        for (Path each : errors) {
            Files.deleteIfExists(each);
        }
    }
}
