package io.seriatim.cli.bench.executor;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Runs a class of this command in a Java of its own, which has run nothing before and whose heap is limited. */
final class OwnProcess {
    /** What it may hold. */
    static final String HEAP = "-Xmx1g";

    private OwnProcess() {
    }

    /** Returns what it printed, warnings included. */
    static String run(String mainClass, String... arguments) throws IOException, InterruptedException {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        List<String> line = new ArrayList<>(
                List.of(java, HEAP, "--enable-native-access=ALL-UNNAMED", "-cp", System.getProperty("java.class.path"),
                        mainClass));
        line.addAll(List.of(arguments));
        Process process = new ProcessBuilder(line).redirectErrorStream(true).start();
        try (InputStream out = process.getInputStream()) {
            String text = new String(out.readAllBytes(), StandardCharsets.UTF_8);
            int code = process.waitFor();
            if (code != 0) {
                throw new IOException("'" + String.join(" ", line.subList(5, line.size())) + "' in a process of its own with " + HEAP
                        + " ended with " + code + ": " + text.strip());
            }
            return text;
        } finally {
            process.destroy();
        }
    }
}
