package io.seriatim.cli.train;

import io.seriatim.cli.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/** {@code seriatim train} in a process of its own, to which signals can be sent. */
final class Command implements AutoCloseable {
    private final ChildProcess process;
    private final Path err;

    private Command(ChildProcess process, Path err) {
        this.process = process;
        this.err = err;
    }

    /**
     * Starts it.
     *
     * @param limit
     *            a command that the shell runs first, such as a limit; empty for none
     */
    static Command start(Path folder, String limit, Object... args) throws IOException {
        List<String> line = ChildProcess.java("-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC",
                "--enable-native-access=ALL-UNNAMED");
        line.addAll(List.of("io.seriatim.cli.Main", "train"));
        for (Object arg : args) {
            line.add(arg.toString());
        }
        if (!limit.isEmpty()) {
            line.addAll(0, List.of("bash", "-c", limit + " && exec \"$@\"", "bash"));
        }
        Path err = folder.resolve("err.txt");
        ProcessBuilder builder = new ProcessBuilder(new ArrayList<>(line)).directory(folder.toFile())
                .redirectError(err.toFile());
        return new Command(ChildProcess.start(builder), err);
    }

    /** Reads output up to a given line. */
    void await(Predicate<String> wanted) throws InterruptedException {
        process.await(wanted);
    }

    void signal(String name) throws IOException, InterruptedException {
        process.signal(name);
    }

    long pid() {
        return process.pid();
    }

    /** Waits for the end of the process, and returns its exit code. */
    int end() throws InterruptedException {
        return process.end();
    }

    String out() {
        return process.out();
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
        process.close();
    }
}
