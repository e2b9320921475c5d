package io.seriatim.mxnet;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

/** The committed cases: a folder for each, with the model, the inputs and the results. */
final class GoldenZip {
    private GoldenZip() {
    }

    static Path unpacked(Path folder) throws IOException {
        Path root = folder.resolve("committed");
        if (Files.isDirectory(root)) {
            return root;
        }
        Files.createDirectories(root);
        for (String name : List.of("golden.zip", "wide.zip", "regions.zip", "deep_numpy.zip")) {
            unpack(name, root);
        }
        return root;
    }

    private static void unpack(String name, Path root) throws IOException {
        InputStream resource = Objects.requireNonNull(GoldenZip.class.getResourceAsStream(name));
        try (ZipInputStream in = new ZipInputStream(resource)) {
            for (ZipEntry entry = in.getNextEntry(); entry != null; entry = in.getNextEntry()) {
                Path file = root.resolve(entry.getName()).normalize();
                if (!file.startsWith(root)) {
                    throw new IOException("an entry outside the folder: " + entry.getName());
                }
                Files.createDirectories(Objects.requireNonNull(file.getParent()));
                Files.copy(in, file);
            }
        }
    }
}
