package io.seriatim.benchmarks.metg;

import io.seriatim.benchmarks.common.PeerUnavailableException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A C++ program of a task system, a process for each graph. It reads the table of dependencies and then one command a
 * line; see {@code metg.h}. It runs and checks the same graph, and measures the peak of its own compiled kernel.
 */
final class ProgramSystem implements MetgSystem {
    private static final long LIMIT_SECONDS = 300;

    private final String key;
    private final String name;
    private final boolean pusherRunsTasks;
    private final Path program;
    private final int workers;
    private @Nullable TaskGraph graph;
    private @Nullable Session session;

    ProgramSystem(String key, String name, boolean pusherRunsTasks, Path program, int workers) {
        this.key = key;
        this.name = name;
        this.pusherRunsTasks = pusherRunsTasks;
        this.program = program;
        this.workers = workers;
    }

    /** A running process. */
    private record Session(Process process, Writer in, BufferedReader out) {
    }

    @Override
    public String key() {
        return key;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Kind kind() {
        return Kind.NATIVE;
    }

    @Override
    public boolean pusherRunsTasks() {
        return pusherRunsTasks;
    }

    @Override
    public long run(TaskGraph wanted, int steps, int iterations) throws WrongValueException, PeerUnavailableException {
        if (graph != wanted) {
            close();
            graph = wanted;
        }
        String[] answer = ask("run " + steps + ' ' + iterations).split(" ", -1);
        if (answer.length != 2 || !(answer[1].equals("ok") || answer[1].equals("wrong"))) {
            throw new PeerUnavailableException(name + " answered '" + String.join(" ", answer) + "'");
        }
        if (answer[1].equals("wrong")) {
            throw new WrongValueException("a task read a wrong value, did not run, or ran twice");
        }
        return Long.parseLong(answer[0]);
    }

    /** Measures the kernel in the process of the last graph. */
    @Override
    public double peak(long nanos) throws PeerUnavailableException {
        return Double.parseDouble(ask("peak " + nanos));
    }

    private String ask(String line) throws PeerUnavailableException {
        Session running = session();
        CompletableFuture<Void> watchdog = CompletableFuture.runAsync(running.process::destroyForcibly,
                CompletableFuture.delayedExecutor(LIMIT_SECONDS, TimeUnit.SECONDS));
        try {
            running.in.write(line + '\n');
            running.in.flush();
            String answer = running.out.readLine();
            if (answer == null) {
                throw new PeerUnavailableException(name + " ended at '" + line + "', or took more than " + LIMIT_SECONDS
                        + " s");
            }
            return answer;
        } catch (IOException e) {
            throw new PeerUnavailableException(name + " failed at '" + line + "': " + e.getMessage(), e);
        } finally {
            watchdog.cancel(false);
        }
    }

    private Session session() throws PeerUnavailableException {
        Session running = session;
        if (running == null) {
            TaskGraph table = graph == null ? TaskPattern.TRIVIAL.graph(workers) : graph;
            try {
                ProcessBuilder builder = new ProcessBuilder(program.toString())
                        .redirectError(ProcessBuilder.Redirect.DISCARD);
                // By default a waiting thread of libgomp spins for milliseconds, which is hundreds of times slower on
                // a machine that others use too.
                builder.environment().putIfAbsent("OMP_WAIT_POLICY", "passive");
                Process process = builder.start();
                running = new Session(process,
                        new OutputStreamWriter(process.getOutputStream(), StandardCharsets.US_ASCII),
                        new BufferedReader(new InputStreamReader(process.getInputStream(),
                                StandardCharsets.US_ASCII)));
                session = running;
                running.in.write(workers + "\n" + table.text());
            } catch (IOException e) {
                throw new PeerUnavailableException(name + " cannot be started: " + e.getMessage(), e);
            }
        }
        return running;
    }

    @Override
    public void close() {
        Session running = session;
        session = null;
        if (running != null) {
            running.process.destroyForcibly();
            try {
                running.out.close();
            } catch (IOException e) {
                throw new UncheckedIOException(name + " cannot be closed", e);
            }
        }
    }
}
