package io.seriatim.cli.demo;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The class files in the running JDK's module image, which exist on every machine with Java. */
final class ClassFiles {
    /** A group of this size takes some milliseconds to compress. */
    private static final long GROUP_BYTES = 128 * 1024;

    private ClassFiles() {
    }

    /**
     * Lists the files in a fixed order, in groups.
     *
     * @param limit
     *            the approximate total number of bytes
     */
    static List<Group> groups(long limit) {
        List<Group> groups = new ArrayList<>();
        List<Path> files = new ArrayList<>();
        long grouped = 0;
        long all = 0;
        for (Path file : sorted()) {
            long size = size(file);
            files.add(file);
            grouped += size;
            all += size;
            if (grouped >= GROUP_BYTES || all >= limit) {
                groups.add(new Group(files, grouped));
                files = new ArrayList<>();
                grouped = 0;
            }
            if (all >= limit) {
                break;
            }
        }
        if (!files.isEmpty()) {
            groups.add(new Group(files, grouped));
        }
        return groups;
    }

    private static List<Path> sorted() {
        Path modules = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules");
        try (Stream<Path> all = Files.walk(modules)) {
            return all.filter(file -> file.toString().endsWith(".class")).sorted().toList();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot list the classes of the running JDK", e);
        }
    }

    private static long size(Path file) {
        try {
            return Files.size(file);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + file, e);
        }
    }
}
