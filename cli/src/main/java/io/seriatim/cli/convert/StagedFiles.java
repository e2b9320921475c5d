package io.seriatim.cli.convert;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * A folder for the files of a model until they are complete and checked, beside the place where they belong. Files of
 * the model that was read are never replaced by others.
 */
final class StagedFiles implements AutoCloseable {
    private final Path target;
    private final Path source;
    private final Path folder;

    private StagedFiles(Path target, Path source, Path folder) {
        this.target = target;
        this.source = source;
        this.folder = folder;
    }

    /** Creates the folder for a model that is read from another file. */
    static StagedFiles beside(Path target, Path source) throws IOException {
        Path parent = target.toAbsolutePath().getParent();
        if (parent == null || !Files.isDirectory(parent)) {
            throw new NoSuchFileException(target.toString(), null, "its folder is not there: make it first");
        }
        if (Files.exists(target) && Files.exists(source) && Files.isSameFile(target, source)) {
            throw new IllegalArgumentException(
                    "The model would be written over itself, to " + target + ": name another file");
        }
        return new StagedFiles(target, source, Files.createTempDirectory(parent, ".convert"));
    }

    /** The file to write. */
    Path file() {
        return folder.resolve(String.valueOf(target.getFileName()));
    }

    /** Moves all files to their place, the model's own file last. */
    void publish() throws IOException {
        List<Path> files = new ArrayList<>();
        try (Stream<Path> all = Files.list(folder)) {
            all.filter(each -> !each.equals(file())).sorted().forEach(files::add);
        }
        for (Path file : files) {
            requireNoOther(file);
        }
        files.add(file());
        for (Path file : files) {
            Files.move(file, target.resolveSibling(String.valueOf(file.getFileName())),
                    StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
        }
    }

    /** The parameters of a .pdmodel and of a .json of the same name are one file, which must fit both. */
    private void requireNoOther(Path file) throws IOException {
        Path place = target.resolveSibling(String.valueOf(file.getFileName()));
        if (Files.exists(place) && isOfSource(place) && Files.mismatch(file, place) >= 0) {
            throw new FileAlreadyExistsException(place.toString(), null,
                    "it belongs to " + source + ", and the converted model needs another one: choose another name");
        }
    }

    private boolean isOfSource(Path file) throws IOException {
        Path folder = source.toAbsolutePath().getParent();
        String name = String.valueOf(source.getFileName());
        String stem = name.lastIndexOf('.') > 0 ? name.substring(0, name.lastIndexOf('.')) : name;
        String other = String.valueOf(file.getFileName());
        return folder != null && Files.isSameFile(folder, file.toAbsolutePath().getParent())
                && other.startsWith(stem + ".");
    }

    @Override
    public void close() throws IOException {
        try (Stream<Path> left = Files.list(folder)) {
            for (Path file : left.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(folder);
    }
}
