package io.seriatim.cli.train;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** {@code seriatim train} in a process of its own, to which signals can be sent. */
final class Command implements AutoCloseable {
    private static final long LIMIT_SECONDS = 120;

    private final Process process;
    private final Path err;
    private final BufferedReader out;
    private final StringBuilder printed = new StringBuilder();

    private Command(Process process, Path err) {
        this.process = process;
        this.err = err;
        this.out = process.inputReader(StandardCharsets.UTF_8);
    }

    /**
     * Starts it.
     *
     * @param limit
     *            a command that the shell runs first, such as a limit; empty for none
     */
    static Command start(Path folder, String limit, Object... args) throws IOException {
        List<String> line = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx512m",
                        "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "--enable-native-access=ALL-UNNAMED", "-cp",
                        System.getProperty("jdk.module.path", "") + File.pathSeparator
                                + System.getProperty("java.class.path"),
                        "io.seriatim.cli.Main", "train"));
        for (Object arg : args) {
            line.add(arg.toString());
        }
        if (!limit.isEmpty()) {
            line.addAll(0, List.of("bash", "-c", limit + " && exec \"$@\"", "bash"));
        }
        Path err = folder.resolve("err.txt");
        return new Command(new ProcessBuilder(line).directory(folder.toFile()).redirectError(err.toFile()).start(),
                err);
    }

    /** Reads output up to a given line. */
    void await(Predicate<String> wanted) throws IOException {
        String line;
        do {
            line = out.readLine();
            assertNotNull(line, () -> "ended before it printed what was awaited: " + printed + err());
            printed.append(line).append('\n');
        } while (!wanted.test(line));
    }

    void signal(String name) throws IOException, InterruptedException {
        Process kill = new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).inheritIO().start();
        assertTrue(kill.waitFor() == 0 || !process.isAlive(), "kill failed");
    }

    long pid() {
        return process.pid();
    }

    /** Waits for the end of the process, and returns its exit code. */
    int end() throws IOException, InterruptedException {
        out.lines().forEach(line -> printed.append(line).append('\n'));
        assertTrue(process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS), () -> "hangs: " + printed + err());
        return process.exitValue();
    }

    String out() {
        return printed.toString();
    }

    String err() {
        try {
            return Files.readString(err);
        } catch (IOException e) {
            return e.toString();
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
