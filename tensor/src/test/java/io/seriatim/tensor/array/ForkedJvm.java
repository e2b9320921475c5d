package io.seriatim.tensor.array;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs a program in a JVM of its own, for a limited time: if it hangs, the test fails with the threads of both. */
final class ForkedJvm {
    private static final long DUMP_SECONDS = 20;

    private ForkedJvm() {
    }

    /** Runs the program, checks that it exits normally, and returns its output. */
    static String run(long limitSeconds, List<String> command) throws IOException, InterruptedException {
        Path output = Files.createTempFile("output", ".txt");
        Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile()).start();
        try {
            if (!process.waitFor(limitSeconds, TimeUnit.SECONDS)) {
                throw new AssertionError("For " + limitSeconds + " s it does not end: " + command + "\n"
                        + Files.readString(output) + "\nThreads of its process:\n" + threads(process.pid())
                        + "\nThreads of this process:\n" + threads(ProcessHandle.current().pid()));
            }
            String printed = Files.readString(output, StandardCharsets.UTF_8);
            assertEquals(0, process.exitValue(), printed);
            return printed;
        } finally {
            process.destroyForcibly();
            Files.delete(output);
        }
    }

    private static String threads(long pid) throws IOException, InterruptedException {
        Path file = Files.createTempFile("threads", ".txt");
        Process dump = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
                Long.toString(pid), "Thread.print").redirectErrorStream(true).redirectOutput(file.toFile()).start();
        boolean whole = dump.waitFor(DUMP_SECONDS, TimeUnit.SECONDS);
        dump.destroyForcibly();
        String text = Files.readString(file);
        Files.delete(file);
        return whole ? text : text + "\njcmd did not end in " + DUMP_SECONDS + " s";
    }
}
