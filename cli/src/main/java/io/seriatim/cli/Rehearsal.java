package io.seriatim.cli;

import io.seriatim.cli.bench.train.TrainRehearsal;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * Does a little of everything that takes long to start. The launcher records a process that runs it: later ones find the classes and lambdas that it used loaded and linked, and the compiler
 * knows what it called often.
 */
final class Rehearsal {
    private Rehearsal() {
    }

    /** Throws an IllegalStateException if a command fails. */
    static void run(Path folder) {
        String out = folder.resolve("run").toString();
        for (List<String> line : List.of(List.of("--help"), List.of("doctor"), List.of("train", "names", "--steps", "4", "--out", out))) {
            int code = Main.run(Main.commandLine(), line.toArray(String[]::new));
            if (code != 0) {
                throw new IllegalStateException("'" + String.join(" ", line) + "' ended with " + code);
            }
        }
        TrainRehearsal.run();
    }

    /**
     * Runs it in a folder that is gone afterwards.
     *
     * @param args
     *            none
     * @throws IOException
     *             if there can be no such folder
     */
    public static void main(String[] args) throws IOException {
        Path folder = Files.createTempDirectory("seriatim");
        try {
            run(folder);
        } finally {
            try (Stream<Path> files = Files.walk(folder)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(file);
                }
            }
        }
    }
}
