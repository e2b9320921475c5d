package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Runs a main class of these tests in a separate JVM. */
final class ForkedJvm {
    private static final long DUMP_SECONDS = 20;

    private ForkedJvm() {
    }

    /** Runs the program, checks that it exits normally, and returns its output. */
    static String run(long limitSeconds, Path output, List<String> options, Class<?> main, String... args)
            throws Exception {
        return run(limitSeconds, output, options, Map.of(), main, args);
    }

    /** As above, with further environment variables. */
    static String run(long limitSeconds, Path output, List<String> options, Map<String, String> environment,
            Class<?> main, String... args) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(options);
        command.addAll(List.of("-cp", placeOf(Engine.class) + File.pathSeparator + placeOf(main), main.getName()));
        command.addAll(List.of(args));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true)
                .redirectOutput(output.toFile());
        builder.environment().putAll(environment);
        Process process = builder.start();
        try {
            assertTrue(process.waitFor(limitSeconds, TimeUnit.SECONDS),
                    () -> "hangs: " + command + read(output) + "Its threads: " + threads(process.pid())
                            + "The threads here: " + threads(ProcessHandle.current().pid()));
            assertEquals(0, process.exitValue(), () -> command + read(output));
        } finally {
            process.destroyForcibly();
        }
        return read(output);
    }

    private static String threads(long pid) {
        try {
            Path file = Files.createTempFile("threads", ".txt");
            Process dump = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
                    Long.toString(pid), "Thread.print").redirectErrorStream(true).redirectOutput(file.toFile()).start();
            boolean whole = dump.waitFor(DUMP_SECONDS, TimeUnit.SECONDS);
            dump.destroyForcibly();
            String text = read(file);
            Files.delete(file);
            return whole ? text : text + " jcmd did not end in " + DUMP_SECONDS + " s";
        } catch (IOException e) {
            return e.toString();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return e.toString();
        }
    }

    private static String read(Path output) {
        try {
            return System.lineSeparator() + Files.readString(output, StandardCharsets.UTF_8);
        } catch (IOException e) {
            return e.toString();
        }
    }

    /** Finds the folder or jar of a class by its resource, because a patched module hides its location. */
    private static String placeOf(Class<?> type) throws Exception {
        String file = type.getName().replace('.', '/') + ".class";
        String url = String.valueOf(type.getResource('/' + file));
        String place = url.substring(0, url.length() - file.length());
        if (place.startsWith("jar:")) {
            place = place.substring("jar:".length(), place.length() - "!/".length());
        }
        return Path.of(URI.create(place)).toString();
    }
}
