package io.seriatim.benchmarks.metg;

import io.seriatim.benchmarks.common.PeerUnavailableException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Compiles the C++ programs, which are resources, with the machine's compiler, into a temporary folder. */
final class NativeSystems implements AutoCloseable {
    private static final List<String> SOURCES = List.of("metg.h", "openmp.cpp", "taskflow.cpp", "taskflow_graph.cpp");
    private static final long LIMIT_SECONDS = 180;

    private final String compiler;
    private final Path folder;

    /** Creates an empty folder. */
    NativeSystems() throws IOException {
        compiler = Optional.ofNullable(System.getenv("CXX")).filter(name -> !name.isBlank()).orElse("g++");
        folder = Files.createTempDirectory("seriatim-metg-");
        for (String name : SOURCES) {
            try (InputStream source = NativeSystems.class.getResourceAsStream(name)) {
                if (source == null) {
                    throw new IOException("The resource " + name + " is missing");
                }
                Files.copy(source, folder.resolve(name));
            }
        }
    }

    /** Compiles the program for OpenMP. The thread that creates the tasks runs some itself. */
    MetgSystem openMp(int workers) throws PeerUnavailableException, InterruptedException {
        Path program = compile("openmp", List.of("-fopenmp"));
        return new ProgramSystem("openmp", "OpenMP depend, " + Path.of(compiler).getFileName(), true, program, workers);
    }

    /**
     * Compiles one of the programs for Taskflow.
     *
     * @param graph
     *            whether it builds a graph and runs it again and again; otherwise it pushes one task after the other
     * @param headers
     *            the folder that contains {@code taskflow/taskflow.hpp}; null to search the compiler's folders
     */
    MetgSystem taskflow(int workers, boolean graph, @Nullable Path headers)
            throws PeerUnavailableException, InterruptedException {
        List<String> flags = headers == null ? List.of("-pthread") : List.of("-pthread", "-I" + headers);
        return graph
                ? new ProgramSystem("taskflow-graph", "Taskflow, graph", false, compile("taskflow_graph", flags),
                        workers)
                : new ProgramSystem("taskflow", "Taskflow", false, compile("taskflow", flags), workers);
    }

    private Path compile(String name, List<String> flags) throws PeerUnavailableException, InterruptedException {
        Path program = folder.resolve(name);
        Path log = folder.resolve(name + ".log");
        List<String> command = new ArrayList<>(List.of(compiler, "-std=c++20", "-O3", "-march=native", "-w"));
        command.addAll(flags);
        command.addAll(List.of(folder.resolve(name + ".cpp").toString(), "-o", program.toString()));
        try {
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
            boolean ended;
            try {
                ended = process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS);
            } finally {
                process.destroyForcibly();
            }
            if (!ended || process.exitValue() != 0) {
                String reason = Files.readAllLines(log, Charset.defaultCharset()).stream()
                        .filter(line -> line.contains("error")).findFirst().orElse(ended ? "no message" : "no end");
                throw new PeerUnavailableException(compiler + " does not compile it: " + reason.strip());
            }
            return program;
        } catch (IOException e) {
            throw new PeerUnavailableException("there is no C++ compiler " + compiler
                    + "; the environment variable CXX can name another", e);
        }
    }

    /** Deletes the folder. */
    @Override
    public void close() throws IOException {
        List<Path> files;
        try (var all = Files.list(folder)) {
            files = all.toList();
        }
        for (Path file : files) {
            Files.delete(file);
        }
        Files.delete(folder);
    }
}
