package io.seriatim.tensor;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * The files that readers open. Only regular files are read: a pipe may never end, and a device such as
 * {@code /dev/zero} has no end.
 *
 * <p>
 * A {@link Watch} remembers the files that are read while it is open, for a command that must not write over its own
 * input. {@link AtomicFile}, {@link StagedFiles} and {@link ConfinedFolder} refuse to replace such a file, whatever
 * name or link leads to it. Without a watch nothing is remembered: a program may read a file, change it and write it
 * again.
 * Thread-safe.
 */
public final class InputFiles {
    // Watches are those of the process, not of a thread: readers and the operations of a program run on any thread. The
    // command opens one for its whole run.
    private static final List<Watch> WATCHES = new CopyOnWriteArrayList<>();

    private InputFiles() {
    }

    /**
     * Requires a file that can be read as a whole, and remembers it if there is a watch.
     *
     * @param file
     *            a file that is to be opened next
     * @return the same file
     * @throws FileFormatException
     *             if it is a folder, a pipe, a device or the like
     * @throws java.nio.file.NoSuchFileException
     *             if it does not exist
     * @throws IOException
     *             if its attributes cannot be read
     */
    public static Path regular(Path file) throws IOException {
        requireRegular(file);
        for (Watch watch : WATCHES) {
            watch.add(file);
        }
        return file;
    }

    /**
     * Requires a file that can be read as a whole, but does not remember it: a file of a run, which the run itself will
     * continue or replace.
     *
     * @param file
     *            a file that is to be opened next
     * @return the same file
     * @throws FileFormatException
     *             if it is a folder, a pipe, a device or the like
     * @throws java.nio.file.NoSuchFileException
     *             if it does not exist
     * @throws IOException
     *             if its attributes cannot be read
     */
    public static Path requireRegular(Path file) throws IOException {
        BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class);
        if (attributes.isDirectory()) {
            throw new FileFormatException(file.toString(), "this is a folder, but a file is needed: name a file in it");
        }
        if (!attributes.isRegularFile()) {
            throw new FileFormatException(file.toString(),
                    "only regular files are read, but this is a pipe, a device or "
                            + "the like: copy its content to a file");
        }
        return file;
    }

    /**
     * Remembers the files that are read from now on.
     *
     * @return the watch, to be closed
     */
    public static Watch watch() {
        Watch watch = new Watch();
        WATCHES.add(watch);
        return watch;
    }

    static boolean isWatching() {
        return !WATCHES.isEmpty();
    }

    /**
     * Refuses a file that was read while one of the open watches was open, by any name.
     *
     * @param target
     *            a file that is to be written; it need not exist
     * @throws FileAlreadyExistsException
     *             if it was read
     * @throws IOException
     *             if it cannot be compared
     */
    public static void requireNotRead(Path target) throws IOException {
        Path read = read(target);
        if (read != null) {
            throw new FileAlreadyExistsException(target.toString(), read.toString(),
                    "this file is an input of the same command and would be replaced: write to another name");
        }
    }

    /** The name by which a file was read; null if it was not. */
    static @Nullable Path read(Path target) throws IOException {
        for (Watch watch : WATCHES) {
            Path read = watch.find(target);
            if (read != null) {
                return read;
            }
        }
        return null;
    }

    /** The files that were read since it was opened. */
    public static final class Watch implements AutoCloseable {
        private final Map<Object, Path> byKey = new ConcurrentHashMap<>();

        private Watch() {
        }

        private void add(Path file) throws IOException {
            byKey.putIfAbsent(key(file), file.toAbsolutePath());
        }

        /** What identifies a file under all its names: on Windows its real path, elsewhere device and inode. */
        private static Object key(Path file) throws IOException {
            Object key = Files.readAttributes(file, BasicFileAttributes.class).fileKey();
            return key == null ? file.toRealPath() : key;
        }

        private @Nullable Path find(Path target) throws IOException {
            if (byKey.isEmpty() || !Files.exists(target)) {
                return null;
            }
            Path read = byKey.get(key(target));
            // The key of a file that was deleted may become that of a new one.
            return read != null && Files.exists(read) && Files.isSameFile(read, target) ? read : null;
        }

        /**
         * The files that were read.
         *
         * @return absolute paths, sorted
         */
        public List<Path> files() {
            Set<Path> sorted = new TreeSet<>(byKey.values());
            return new ArrayList<>(sorted);
        }

        /** Forgets the files. */
        @Override
        public void close() {
            WATCHES.remove(this);
        }
    }
}
