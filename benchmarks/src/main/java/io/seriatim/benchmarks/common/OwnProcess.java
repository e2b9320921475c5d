package io.seriatim.benchmarks.common;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Runs a class of this command in a separate, new JVM. */
public final class OwnProcess {
    /** What it may hold. */
    public static final String HEAP = "-Xmx1g";

    private OwnProcess() {
    }

    public static String run(String mainClass, String... arguments) throws IOException, InterruptedException {
        return run(List.of(HEAP), mainClass, arguments);
    }

    /**
     * Runs a class and waits for its end.
     *
     * @param options
     *            the options of the JVM
     * @param mainClass
     *            the name of a class on this JVM's class path or module path
     * @param arguments
     *            the arguments of the class
     * @return its standard output
     * @throws IOException
     *             if the JVM cannot be started, or exits with a code other than 0
     * @throws InterruptedException
     *             if the calling thread is interrupted; the process is then ended
     */
    public static String run(List<String> options, String mainClass, String... arguments)
            throws IOException, InterruptedException {
        List<String> line = line(options, mainClass, arguments);
        // stderr is separate, because messages of the JVM would interrupt lines of stdout. It goes to a file, because
        // an unread pipe would block the process.
        Path err = Files.createTempFile("seriatim-", ".err");
        try {
            String text;
            int code;
            Process process = new ProcessBuilder(line).redirectError(err.toFile()).start();
            try (InputStream out = process.getInputStream()) {
                text = new String(out.readAllBytes(), StandardCharsets.UTF_8);
                code = process.waitFor();
            } finally {
                process.destroy();
            }
            if (code != 0) {
                String said = (text + new String(Files.readAllBytes(err), StandardCharsets.ISO_8859_1)).strip();
                throw new IOException(
                        "'" + String.join(" ", line.subList(line.indexOf(mainClass), line.size()))
                                + "' in a process of its own with " + String.join(" ", options) + " ended with " + code
                                + ": "
                                + (said.isEmpty() ? "it said nothing" : said));
            }
            return text;
        } finally {
            Files.delete(err);
        }
    }

    /**
     * Returns the command line of a JVM that runs a class.
     *
     * @param options
     *            the options of the JVM
     * @param mainClass
     *            the name of a class on this JVM's class path or module path
     * @param arguments
     *            the arguments of the class
     * @return the line, for a {@link ProcessBuilder}
     */
    public static List<String> line(List<String> options, String mainClass, String... arguments) {
        List<String> line = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        line.addAll(options);
        line.addAll(List.of("--enable-native-access=ALL-UNNAMED", "-cp", classPath(), mainClass));
        line.addAll(List.of(arguments));
        return line;
    }

    /** Entries of the module path can be used on the class path too. */
    private static String classPath() {
        return Stream.of("java.class.path", "jdk.module.path").map(System::getProperty).filter(Objects::nonNull)
                .filter(path -> !path.isEmpty()).collect(Collectors.joining(File.pathSeparator));
    }
}
