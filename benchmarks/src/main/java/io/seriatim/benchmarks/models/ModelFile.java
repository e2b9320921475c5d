package io.seriatim.benchmarks.models;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.CRC32;

/**
 * A model to measure.
 *
 * @param name
 *            the name in tables: that of the folder or of the file
 * @param path
 *            the file of the model; inputs are files {@code input_K.pb} beside a file {@code model.onnx}
 */
record ModelFile(String name, Path path) {
    static final String IN_FOLDER = "model.onnx";
    private static final String END = ".onnx";

    /**
     * Returns the models of a folder, in the order of their names.
     *
     * @param given
     *            a file {@code .onnx}, a folder with {@code model.onnx}, or a folder that holds such files and folders
     * @throws IllegalArgumentException
     *             if there is none
     */
    static List<ModelFile> in(Path given) throws IOException {
        if (!Files.exists(given)) {
            throw new IllegalArgumentException("DIR must be a folder of models, but '" + given + "' does not exist");
        }
        List<ModelFile> found = new ArrayList<>();
        add(given, found);
        if (found.isEmpty() && Files.isDirectory(given)) {
            try (Stream<Path> inside = Files.list(given)) {
                for (Path each : inside.toList()) {
                    add(each, found);
                }
            }
        }
        if (found.isEmpty()) {
            throw new IllegalArgumentException("DIR must be a folder of models, but '" + given
                    + "' has no file .onnx and no folder with " + IN_FOLDER);
        }
        found.sort(Comparator.comparing(ModelFile::name));
        return found;
    }

    private static void add(Path path, List<ModelFile> found) {
        String last = String.valueOf(path.toAbsolutePath().normalize().getFileName());
        if (Files.isRegularFile(path.resolve(IN_FOLDER))) {
            found.add(new ModelFile(last, path.resolve(IN_FOLDER)));
        } else if (Files.isRegularFile(path) && last.endsWith(END)) {
            found.add(new ModelFile(last.substring(0, last.length() - END.length()), path));
        }
    }

    /**
     * Returns whether the model belongs to the half that no decision may be tuned by: the networks whose names have an
     * odd checksum (CRC-32 of UTF-8). The rule depends on nothing but the name, so that the half stays the same when
     * networks are added, and nobody chooses it. Do not change the rule: earlier figures would lose their meaning.
     */
    static boolean isLeftOut(String name) {
        CRC32 checksum = new CRC32();
        checksum.update(name.getBytes(StandardCharsets.UTF_8));
        return (checksum.getValue() & 1) == 1;
    }
}
