package io.seriatim.benchmarks.train;

import io.seriatim.benchmarks.common.PeerUnavailableException;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A program that prints results on stdout and all other output on stderr.
 *
 * @param command
 *            the program with its first arguments
 * @param folder
 *            the working directory
 * @param environment
 *            additional environment variables
 * @param help
 *            a hint for the user if it fails
 */
record PeerProcess(List<String> command, Path folder, Map<String, String> environment, String help) {
    PeerProcess {
        command = List.copyOf(command);
        environment = Map.copyOf(environment);
    }

    /** Runs the program and returns its standard output. */
    String run() throws InterruptedException, PeerUnavailableException {
        try {
            Path out = Files.createTempFile("seriatim-peer-", ".out");
            Path err = Files.createTempFile("seriatim-peer-", ".err");
            try {
                int code = run(out.toFile(), err.toFile());
                if (code != 0) {
                    throw failed("ended with " + code + lastLine(err, out), null);
                }
                return Files.readString(out, StandardCharsets.UTF_8);
            } finally {
                Files.delete(out);
                Files.delete(err);
            }
        } catch (IOException e) {
            throw failed("cannot be run in " + folder + ": " + e.getMessage(), e);
        }
    }

    /** Uses files, because an unread pipe would block the program. */
    private int run(File out, File err) throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile()).redirectOutput(out)
                .redirectError(err);
        builder.environment().putAll(environment);
        Process process = builder.start();
        try {
            return process.waitFor();
        } finally {
            process.descendants().forEach(ProcessHandle::destroy);
            process.destroy();
        }
    }

    /** The last line usually contains the reason. */
    private static String lastLine(Path... files) throws IOException {
        for (Path file : files) {
            // The output may be in any character set.
            String text = new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1).strip();
            if (!text.isEmpty()) {
                return ": " + text.lines().reduce("", (_, line) -> line);
            }
        }
        return "";
    }

    PeerUnavailableException failed(String what, @Nullable Exception cause) {
        String message = "'" + String.join(" ", command) + "' " + what + "; " + help;
        return cause == null ? new PeerUnavailableException(message) : new PeerUnavailableException(message, cause);
    }
}
