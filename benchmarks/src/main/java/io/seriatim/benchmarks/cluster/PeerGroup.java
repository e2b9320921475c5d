package io.seriatim.benchmarks.cluster;

import io.seriatim.benchmarks.common.PeerUnavailableException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Ranks of another system on this machine, which one process starts and answers for. */
final class PeerGroup implements AutoCloseable {
    private static final long LIMIT_SECONDS = 120;
    private static final long END_SECONDS = 10;

    private final String name;
    private final Path folder;
    private final Process process;
    private final BufferedReader answers;
    private final Writer commands;
    private final String version;

    private PeerGroup(String name, Path folder, List<String> line) throws PeerUnavailableException {
        this.name = name;
        this.folder = folder;
        try {
            process = new ProcessBuilder(line).redirectError(folder.resolve("err").toFile()).start();
        } catch (IOException e) {
            throw new PeerUnavailableException(name + ": '" + line.getFirst() + "' cannot be started", e);
        }
        answers = process.inputReader(StandardCharsets.UTF_8);
        commands = process.outputWriter(StandardCharsets.UTF_8);
        try {
            version = answer();
        } catch (PeerUnavailableException e) {
            process.destroyForcibly();
            throw e;
        }
    }

    /** Starts ranks of torch.distributed over Gloo. */
    static PeerGroup gloo(String python, int ranks) throws IOException, PeerUnavailableException {
        Path folder = Files.createTempDirectory("seriatim-gloo-");
        try {
            return new PeerGroup("Gloo", folder,
                    List.of(python, source("gloo.py", folder).toString(), Integer.toString(ranks)));
        } catch (IOException | PeerUnavailableException e) {
            delete(folder);
            throw e;
        }
    }

    /**
     * Compiles a program for MPI, and starts its ranks.
     *
     * @param transports
     *            those of Open MPI that ranks may use, such as {@code tcp}
     */
    static PeerGroup mpi(String transports, int ranks)
            throws IOException, PeerUnavailableException, InterruptedException {
        Path folder = Files.createTempDirectory("seriatim-mpi-");
        try {
            Path program = folder.resolve("sums");
            compile(List.of("mpicc", "-O3", source("sums.c", folder).toString(), "-o", program.toString()), folder);
            // Ranks that spin while they wait would take the processors from each other.
            return new PeerGroup("Open MPI, " + transports, folder,
                    List.of("mpirun", "--allow-run-as-root", "--oversubscribe", "-np", Integer.toString(ranks), "--mca",
                            "btl", transports + ",self", "--mca", "mpi_yield_when_idle", "1", program.toString()));
        } catch (IOException | PeerUnavailableException | InterruptedException e) {
            delete(folder);
            throw e;
        }
    }

    private static void compile(List<String> line, Path folder) throws PeerUnavailableException, InterruptedException {
        try {
            Process process = new ProcessBuilder(line).redirectErrorStream(true)
                    .redirectOutput(folder.resolve("err").toFile()).start();
            try {
                if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
                    throw new PeerUnavailableException("Open MPI: mpicc does not compile it" + lastError(folder));
                }
            } finally {
                process.destroyForcibly();
            }
        } catch (IOException e) {
            throw new PeerUnavailableException("Open MPI: there is no mpicc", e);
        }
    }

    private static Path source(String name, Path folder) throws IOException {
        Path copy = folder.resolve(name);
        try (InputStream in = Objects.requireNonNull(PeerGroup.class.getResourceAsStream(name), name)) {
            Files.copy(in, copy);
        }
        return copy;
    }

    /** Returns the library and its version. */
    String version() {
        return version;
    }

    /** Returns the nanoseconds of what a command measures, those of the slowest rank. */
    double ask(String command) throws PeerUnavailableException {
        try {
            commands.write(command + "\n");
            commands.flush();
        } catch (IOException e) {
            throw new PeerUnavailableException(name + ": the ranks ended before '" + command + "'", e);
        }
        return Double.parseDouble(answer());
    }

    private String answer() throws PeerUnavailableException {
        try {
            String line = answers.readLine();
            if (line == null) {
                throw new PeerUnavailableException(name + ": the ranks ended" + lastError(folder));
            }
            return line;
        } catch (IOException e) {
            throw new PeerUnavailableException(name + ": the ranks ended", e);
        }
    }

    private static String lastError(Path folder) throws IOException {
        String text = new String(Files.readAllBytes(folder.resolve("err")), StandardCharsets.ISO_8859_1).strip();
        return text.isEmpty() ? "" : ": " + text.lines().reduce("", (_, line) -> line);
    }

    /** Ends the ranks, which stop when they are told nothing more. */
    @Override
    public void close() throws IOException {
        List<ProcessHandle> children = new ArrayList<>(process.descendants().toList());
        try {
            commands.close();
        } catch (IOException e) {
            // They have ended already.
        }
        try {
            if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
        children.forEach(ProcessHandle::destroyForcibly);
        delete(folder);
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(folder);
    }
}
