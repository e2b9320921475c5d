package io.seriatim.cli;

import io.seriatim.cli.bench.train.TrainRehearsal;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * Does a little of everything that takes long to start. The launcher records a process that runs it: later ones find
 * the classes and lambdas that it used loaded and linked, and the compiler knows what it called often.
 */
final class AotTrainingRun {
    /** Enough for a few batches. */
    private static final int NAMES = 200;

    private AotTrainingRun() {
    }

    /** Throws an IllegalStateException if a command fails; what they make is left in the folder. */
    static void run(Path folder) throws IOException {
        Path data = Files.write(folder.resolve("names.txt"),
                Object.class.getModule().getPackages().stream().sorted().limit(NAMES).toList());
        for (List<String> line : List.of(List.of("--help"),
                List.of("train", "names", "--data", data.toString(), "--steps", "4", "--out",
                        folder.resolve("run").toString()))) {
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
