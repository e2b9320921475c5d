package io.seriatim.cli;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A process that a test has started. It handles signals as if it were started by a user: a signal that this JVM has
 * inherited as ignored, as that of Ctrl-C in a background job of a shell, is not ignored there. Each wait has a limit,
 * after which the test fails with the threads of both processes.
 */
public final class ChildProcess implements AutoCloseable {
    private static final long LIMIT_SECONDS = 120;
    private static final long DUMP_SECONDS = 20;
    /** Programs that reset signals and then become the given command, of which each system has another. */
    private static final List<List<String>> RESETS = List.of(List.of("env", "--default-signal=INT,TERM"),
            List.of("perl", "-e", "$SIG{INT} = $SIG{TERM} = 'DEFAULT'; exec { $ARGV[0] } @ARGV"));
    private static final @Nullable List<String> RESET = reset();

    private final Process process;
    private final long limit;
    /** Those that were read, and at last one that is empty. */
    private final LinkedBlockingQueue<Optional<String>> lines = new LinkedBlockingQueue<>();
    private final StringBuilder printed = new StringBuilder();
    private boolean ended;

    private ChildProcess(Process process, long limit) {
        this.process = process;
        this.limit = limit;
        // A read from a process cannot be interrupted, so another thread does it.
        Thread.ofPlatform().daemon().name("output of " + process.pid()).start(this::read);
    }

    private static @Nullable List<String> reset() {
        for (List<String> each : RESETS) {
            List<String> command = new ArrayList<>(each);
            command.add("true");
            try {
                Process trial = new ProcessBuilder(command).redirectErrorStream(true).start();
                if (trial.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS) && trial.exitValue() == 0) {
                    return each;
                }
                trial.destroyForcibly();
            } catch (IOException e) {
                // There is no such program on this system.
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return null;
            }
        }
        return null;
    }

    /** Starts a process whose standard output is read. */
    public static ChildProcess start(ProcessBuilder builder) throws IOException {
        return start(builder, LIMIT_SECONDS);
    }

    static ChildProcess start(ProcessBuilder builder, long limitSeconds) throws IOException {
        if (RESET != null) {
            List<String> command = new ArrayList<>(RESET);
            command.addAll(builder.command());
            builder.command(command);
        }
        return new ChildProcess(builder.start(), limitSeconds);
    }

    /** A command line that runs a main class of the command with the class path of the tests. */
    public static List<String> java(String... options) {
        List<String> line = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        line.addAll(List.of(options));
        line.addAll(List.of("-cp", System.getProperty("jdk.module.path", "") + File.pathSeparator
                + System.getProperty("java.class.path")));
        return line;
    }

    private void read() {
        try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = out.readLine(); line != null; line = out.readLine()) {
                lines.add(Optional.of(line));
            }
        } catch (IOException e) {
            lines.add(Optional.of("the output could not be read: " + e));
        } finally {
            lines.add(Optional.empty());
        }
    }

    /** The next line, or null at the end. */
    private @Nullable String next() throws InterruptedException {
        if (ended) {
            return null;
        }
        Optional<String> line = lines.poll(limit, TimeUnit.SECONDS);
        if (line == null) {
            throw hangs("prints nothing");
        }
        ended = line.isEmpty();
        line.ifPresent(text -> printed.append(text).append('\n'));
        return line.orElse(null);
    }

    /** Reads output up to a given line. */
    public void await(Predicate<String> wanted) throws InterruptedException {
        for (String line = next(); line == null || !wanted.test(line); line = next()) {
            if (line == null) {
                throw new AssertionError("ended before it printed what was awaited: " + printed);
            }
        }
    }

    /** Sends a signal such as {@code INT}. */
    public void signal(String name) throws IOException, InterruptedException {
        Process kill = new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).inheritIO().start();
        if (!kill.waitFor(limit, TimeUnit.SECONDS) || (kill.exitValue() != 0 && process.isAlive())) {
            throw new AssertionError("kill -" + name + " failed");
        }
    }

    /** The number of the process. */
    public long pid() {
        return process.pid();
    }

    /** Whether it has not ended. */
    public boolean isAlive() {
        return process.isAlive();
    }

    /** Waits for the end of the process, and returns its exit code. */
    public int end() throws InterruptedException {
        while (next() != null) {
            // The text is kept.
        }
        if (!process.waitFor(limit, TimeUnit.SECONDS)) {
            throw hangs("does not end");
        }
        return process.exitValue();
    }

    /** The output that was read. */
    public String out() {
        return printed.toString();
    }

    private AssertionError hangs(String how) {
        String command = process.info().command().orElse("the process");
        return new AssertionError("For " + limit + " s " + command + " " + how + ". It has printed: " + printed
                + "\nThreads of process " + process.pid() + ":\n" + threads(process.pid())
                + "\nThreads of this process:\n" + threads(ProcessHandle.current().pid()));
    }

    private static String threads(long pid) {
        try {
            Path file = Files.createTempFile("threads", ".txt");
            Process dump = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
                    Long.toString(pid), "Thread.print").redirectErrorStream(true).redirectOutput(file.toFile()).start();
            boolean whole = dump.waitFor(DUMP_SECONDS, TimeUnit.SECONDS);
            dump.destroyForcibly();
            String text = Files.readString(file);
            Files.delete(file);
            return whole ? text : text + "\njcmd did not end in " + DUMP_SECONDS + " s";
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return e.toString();
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
