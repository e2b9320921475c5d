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

/** Runs a class of this command in a Java of its own, which has run nothing before. */
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
     *            of the JVM
     * @param mainClass
     *            the name of a class on this one's class path or module path
     * @param arguments
     *            its arguments
     * @return what it printed on stdout
     * @throws IOException
     *             if it cannot be started, or ends with anything but 0
     * @throws InterruptedException
     *             if the calling thread is interrupted; the process is then ended
     */
    public static String run(List<String> options, String mainClass, String... arguments)
            throws IOException, InterruptedException {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        List<String> line = new ArrayList<>(List.of(java));
        line.addAll(options);
        line.addAll(List.of("--enable-native-access=ALL-UNNAMED", "-cp", classPath()));
        int known = line.size();
        line.add(mainClass);
        line.addAll(List.of(arguments));
        // Apart: what the JVM says on stderr comes in the middle of a line of stdout. Through a file: a pipe that no
        // one reads would hold it up.
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
                        "'" + String.join(" ", line.subList(known, line.size())) + "' in a process of its own with "
                                + String.join(" ", options) + " ended with " + code + ": "
                                + (said.isEmpty() ? "it said nothing" : said));
            }
            return text;
        } finally {
            Files.delete(err);
        }
    }

    /** What is on the module path can be on the class path too. */
    private static String classPath() {
        return Stream.of("java.class.path", "jdk.module.path").map(System::getProperty).filter(Objects::nonNull)
                .filter(path -> !path.isEmpty()).collect(Collectors.joining(File.pathSeparator));
    }
}
