package io.seriatim.tensor;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.locks.ReentrantLock;

/** Files and folders that exist until their content is complete, in the folder where it belongs. */
final class TemporaryFiles {
    // How a temporary file ends:
    // - Its writer moves it into place or deletes it.
    // - The process ends while it is written, by a signal or System.exit: the shutdown hook deletes it. Moving files
    // into place and the hook exclude each other by PUBLISHING, so what belongs together is moved as a whole or not.
    // - The process is killed: the next process that writes to the folder deletes it. It knows that the writer is gone
    // because it gets the writer's lock, which the system releases with the process.
    //
    // PUBLISHING guards LIVE and ended. It is held while files are moved, which takes no longer than renaming some
    // files; never while content is written.
    private static final String PREFIX = ".seriatim-";
    private static final String SUFFIX = ".part";
    /** The file in a temporary folder whose lock its writer holds. */
    private static final String LOCK = ".lock";
    /** A folder without a lock file is being made, or moved, or was left between these steps. */
    private static final Duration STEP = Duration.ofHours(1);
    private static final int MOST_KNOWN = 100;

    private static final ReentrantLock PUBLISHING = new ReentrantLock();
    @GuardedBy("PUBLISHING")
    private static final Map<Path, Temporary> LIVE = new HashMap<>();
    /** Folders that were searched for left-overs, of which the longest unused ones are forgotten. */
    @GuardedBy("PUBLISHING")
    private static final Map<Path, Boolean> SEARCHED = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Path, Boolean> eldest) {
            return size() > MOST_KNOWN;
        }
    };
    /** Another process searches a folder for left-overs once, so a second try succeeds. */
    private static final int MOST_TRIES = 10;
    private static final int MOST_DELETIONS = 1000;
    @GuardedBy("PUBLISHING")
    private static boolean hooked;
    @GuardedBy("PUBLISHING")
    private static boolean ended;

    private TemporaryFiles() {
    }

    /** Creates a file, or a folder with its lock file, and opens it. */
    interface Opening {
        SeekableByteChannel open(Path path) throws IOException;

        /** Whether what was created is still there. */
        default boolean isThere(Path path) throws IOException {
            return Files.exists(path);
        }
    }

    /** Steps that move files into place. */
    interface Moves {
        void run() throws IOException;
    }

    /** A temporary file or folder, which {@link #close} deletes unless it was moved into place. */
    static final class Temporary implements Closeable {
        private final Path path;
        private final SeekableByteChannel channel;
        @GuardedBy("PUBLISHING")
        private boolean gone;

        private Temporary(Path path, SeekableByteChannel channel) {
            this.path = path;
            this.channel = channel;
        }

        Path path() {
            return path;
        }

        /** Of a file: for its content. */
        SeekableByteChannel channel() {
            return channel;
        }

        /**
         * Moves files into place, which neither the end of the process nor other publications interrupt.
         *
         * @throws IOException
         *             if the process is ending, and this temporary file was deleted
         */
        void publish(Moves moves) throws IOException {
            PUBLISHING.lock();
            try {
                if (gone) {
                    throw new FileSystemException(path.toString(), null,
                            "the process is ending, so nothing is written");
                }
                moves.run();
            } finally {
                PUBLISHING.unlock();
            }
        }

        /** Of a folder: removes the file that only writers need, before the folder is moved. */
        void unlock() throws IOException {
            Files.delete(path.resolve(LOCK));
        }

        boolean isLock(Path file) {
            return file.equals(path.resolve(LOCK));
        }

        @Override
        public void close() throws IOException {
            PUBLISHING.lock();
            try {
                LIVE.remove(path);
                gone = true;
            } finally {
                PUBLISHING.unlock();
            }
            try (channel) {
                delete(path);
            }
        }
    }

    /** Creates a file that is open for writing. */
    static Temporary file(Path folder) throws IOException {
        return file(folder,
                path -> FileChannel.open(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE));
    }

    /** Creates a file in another way than by its path. */
    static Temporary file(Path folder, Opening opening) throws IOException {
        return create(folder, opening);
    }

    /** Creates a folder. */
    static Temporary folder(Path folder) throws IOException {
        return create(folder, new Opening() {
            @Override
            public SeekableByteChannel open(Path path) throws IOException {
                Files.createDirectory(path);
                try {
                    return FileChannel.open(path.resolve(LOCK), StandardOpenOption.CREATE_NEW,
                            StandardOpenOption.WRITE);
                } catch (IOException e) {
                    Files.delete(path);
                    throw e;
                }
            }

            @Override
            public boolean isThere(Path path) {
                return Files.exists(path.resolve(LOCK));
            }
        });
    }

    private static Temporary create(Path given, Opening opening) throws IOException {
        Path folder = given.toAbsolutePath().normalize();
        removeLeftOvers(folder);
        for (int tries = 0; tries < MOST_TRIES; tries++) {
            Path path = folder.resolve(PREFIX + UUID.randomUUID() + SUFFIX);
            Temporary made = registered(path, opening);
            if (isLocked(made, opening)) {
                return made;
            }
            // Between the creation and the lock another process has taken it for a left-over.
            made.close();
        }
        throw new FileSystemException(folder.toString(), null,
                "temporary files in this folder are deleted as soon as they are made, " + MOST_TRIES + " times now");
    }

    private static Temporary registered(Path path, Opening opening) throws IOException {
        PUBLISHING.lock();
        try {
            // A program may write files in a shutdown hook of its own. A command is to leave nothing behind.
            if (ended && InputFiles.isWatching()) {
                throw new FileSystemException(path.toString(), null, "the process is ending, so nothing is written");
            }
            hook();
            Temporary made = new Temporary(path, opening.open(path));
            LIVE.put(path, made);
            return made;
        } finally {
            PUBLISHING.unlock();
        }
    }

    @GuardedBy("PUBLISHING")
    private static void hook() {
        if (!hooked && !ended) {
            try {
                Runtime.getRuntime().addShutdownHook(new Thread(TemporaryFiles::end, "temporary files"));
                hooked = true;
            } catch (IllegalStateException e) {
                // The process is ending already: this is a shutdown hook of the program, or a thread beside it.
                ended = true;
            }
        }
    }

    /** Locks a new temporary file; returns false if it was deleted. */
    private static boolean isLocked(Temporary made, Opening opening) {
        if (!(made.channel instanceof FileChannel file)) {
            return true;
        }
        try {
            FileLock lock = file.tryLock();
            return lock != null && opening.isThere(made.path);
        } catch (IOException e) {
            // This file system has no locks. Then no process takes the file for a left-over either.
            return true;
        }
    }

    /** The shutdown hook. */
    private static void end() {
        PUBLISHING.lock();
        try {
            ended = true;
            for (Temporary each : LIVE.values()) {
                each.gone = true;
                try {
                    delete(each.path);
                } catch (IOException e) {
                    System.err.println("seriatim: the temporary file " + each.path + " is left: " + e);
                }
            }
            LIVE.clear();
        } finally {
            PUBLISHING.unlock();
        }
    }

    /** Deletes what processes that were killed have left in a folder, when this process first writes there. */
    private static void removeLeftOvers(Path folder) throws IOException {
        PUBLISHING.lock();
        try {
            if (SEARCHED.put(folder, true) != null) {
                return;
            }
            List<Path> found = new ArrayList<>();
            try (DirectoryStream<Path> stream = Files.newDirectoryStream(folder, PREFIX + "*" + SUFFIX)) {
                stream.forEach(found::add);
            } catch (DirectoryIteratorException | AccessDeniedException e) {
                return; // A folder in which files may be made, but not listed.
            }
            for (Path each : found) {
                if (!LIVE.containsKey(each)) {
                    removeIfLeft(each);
                }
            }
        } finally {
            PUBLISHING.unlock();
        }
    }

    private static void removeIfLeft(Path path) throws IOException {
        Path locked = Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS) ? path.resolve(LOCK) : path;
        // Writing takes a lock for writing, but never creates or changes the file.
        try (FileChannel channel = FileChannel.open(locked, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS)) {
            if (channel.tryLock() != null) {
                delete(path);
            }
        } catch (NoSuchFileException e) {
            if (Files.isDirectory(path) && Files.getLastModifiedTime(path).toInstant()
                    .isBefore(Instant.now().minus(STEP))) {
                delete(path);
            }
        } catch (OverlappingFileLockException | FileSystemException e) {
            // In use in this process by another copy of this class, or not ours to open.
            return;
        } catch (IOException e) {
            // A file system without locks: whether the writer is gone is not known.
            return;
        }
    }

    /**
     * Deletes a file, or a folder with its content; what does not exist is deleted already.
     *
     * <p>
     * When the process ends, a thread may still make files in the folder, until it fails because the folder is gone,
     * and may delete them itself. A folder that is not empty after many tries has another cause, such as a network file
     * system that keeps the files that are open.
     */
    static void delete(Path tree) throws IOException {
        for (int tries = 1;; tries++) {
            try {
                deleteOnce(tree);
                return;
            } catch (DirectoryNotEmptyException e) {
                if (tries == MOST_DELETIONS) {
                    throw e;
                }
            }
        }
    }

    private static void deleteOnce(Path tree) throws IOException {
        if (Files.isDirectory(tree, LinkOption.NOFOLLOW_LINKS)) {
            try (DirectoryStream<Path> files = Files.newDirectoryStream(tree)) {
                for (Path each : files) {
                    deleteOnce(each);
                }
            } catch (DirectoryIteratorException e) {
                throw e.getCause();
            } catch (NoSuchFileException e) {
                return;
            }
        }
        Files.deleteIfExists(tree);
    }
}
