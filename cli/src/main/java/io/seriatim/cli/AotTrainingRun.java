package io.seriatim.cli;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Npy;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/**
 * The training run of the JVM's ahead-of-time cache (JEP 514): short runs of the commands. The launcher records a
 * process that runs this class. In later processes the used classes are already loaded and linked, and the compilers
 * know the frequently called methods.
 */
final class AotTrainingRun {
    /** Enough for a few batches. */
    private static final int NAMES = 200;
    private static final int IMAGES = 256;
    private static final int SIDE = 28;
    private static final int CLASSES = 10;
    private static final String STEPS = "4";

    private AotTrainingRun() {
    }

    /**
     * Runs the commands; throws an IllegalStateException if one fails. The files that they write stay in the folder.
     */
    static void run(Path folder) throws IOException {
        Path names = Files.write(folder.resolve("names.txt"),
                Object.class.getModule().getPackages().stream().sorted().limit(NAMES).toList());
        Path images = images(folder.resolve("images"));
        run("--help");
        train("names", names, folder);
        train("lenet", images, folder);
        train("mlp", images, folder);
    }

    private static void train(String network, Path data, Path folder) {
        run("train", network, "--data", data.toString(), "--steps", STEPS, "--out",
                folder.resolve(network).toString());
    }

    private static void run(String... args) {
        int code = Main.run(Main.commandLine(), args);
        if (code != 0) {
            throw new IllegalStateException("'" + String.join(" ", args) + "' ended with " + code);
        }
    }

    /** Writes images with labels to {@code x.npy} and {@code y.npy}. */
    private static Path images(Path folder) throws IOException {
        Files.createDirectories(folder);
        double[] labels = new double[IMAGES];
        for (int i = 0; i < IMAGES; i++) {
            labels[i] = i % CLASSES;
        }
        try (Tensor x = Tensor.of(new float[IMAGES * SIDE * SIDE], IMAGES, 1, SIDE, SIDE);
                Tensor y = Tensor.of(DType.INT64, labels, IMAGES)) {
            Npy.write(folder.resolve("x.npy"), x);
            Npy.write(folder.resolve("y.npy"), y);
        }
        return folder;
    }

    /**
     * Runs the commands in a temporary folder, which is deleted afterwards.
     *
     * @param args
     *            none
     * @throws IOException if the folder cannot be created
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
