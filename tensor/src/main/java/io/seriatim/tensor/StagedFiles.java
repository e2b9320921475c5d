package io.seriatim.tensor;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Files that belong together, such as the program and the parameters of a model: they are written to a hidden folder
 * beside their place, and replace older ones together or not at all.
 *
 * <pre>{@code
 * try (StagedFiles staged = StagedFiles.beside(model)) {
 *     staged.write("model.pdiparams", out -> …);
 *     staged.write("model.pdmodel", out -> …);
 *     staged.publish();
 * }
 * }</pre>
 *
 * <p>
 * If writing fails, or the process ends by a signal before {@link #publish}, nothing has changed and nothing is left.
 * If the process is killed, the hidden folder is deleted by the next process that writes beside it. Not thread-safe.
 */
public final class StagedFiles implements AutoCloseable {
    /** The replaced files, until all new ones are in place. */
    private static final String REPLACED = ".replaced";

    private final Path folder;
    private final Path main;
    private final TemporaryFiles.Temporary staging;
    private final Set<String> removed = new LinkedHashSet<>();

    private StagedFiles(Path main, Path folder) throws IOException {
        this.folder = folder;
        this.main = main;
        this.staging = TemporaryFiles.folder(folder);
    }

    /**
     * Creates the hidden folder.
     *
     * @param target
     *            the place of the main file, such as the program of a model
     * @return the files, none yet
     * @throws IOException
     *             if the folder of the place does not exist, or the place is not one for a file
     */
    public static StagedFiles beside(Path target) throws IOException {
        Path absolute = target.toAbsolutePath();
        Path folder = absolute.getParent();
        if (folder == null || absolute.getFileName() == null || !Files.isDirectory(folder)) {
            throw new NoSuchFileException(target.toString(), null, "its folder is not there: make it first");
        }
        requireReplaceable(target);
        return new StagedFiles(target, folder);
    }

    /**
     * Creates the hidden folder that becomes a folder with all its files, see {@link #publishAsFolder}.
     *
     * @param target
     *            the place of the folder
     * @return the files, none yet
     * @throws IOException
     *             if the folder of the place does not exist
     */
    public static StagedFiles folder(Path target) throws IOException {
        Path folder = target.toAbsolutePath().getParent();
        if (folder == null || !Files.isDirectory(folder)) {
            throw new NoSuchFileException(target.toString(), null, "its folder is not there: make it first");
        }
        return new StagedFiles(target, folder);
    }

    /**
     * Refuses the place of a file at which something other than a file is.
     *
     * @param target
     *            a file that need not exist
     * @throws IOException
     *             if there is a folder, a device or the like
     */
    public static void requireReplaceable(Path target) throws IOException {
        if (Files.isDirectory(target)) {
            throw new FileSystemException(target.toString(), null,
                    "a folder is in the place of this file: move it away, or write to another name");
        }
        if (Files.exists(target) && !Files.isRegularFile(target)) {
            throw new FileSystemException(target.toString(), null,
                    "a device, a pipe or the like is in the place of this file: write to another name");
        }
    }

    /**
     * The main file, to be written.
     *
     * @return a path in the hidden folder
     */
    public Path file() {
        return staging.path().resolve(String.valueOf(main.getFileName()));
    }

    /**
     * Another file, to be written.
     *
     * @param name
     *            its name beside the main file
     * @return a path in the hidden folder
     * @throws IOException
     *             if there is a folder, a device or the like in its place
     */
    public Path file(String name) throws IOException {
        requireReplaceable(folder.resolve(name));
        return staging.path().resolve(name);
    }

    /**
     * Creates a folder in the hidden folder, and those above it.
     *
     * @param name
     *            its name beside the main file, or that of the main file, with any folders in it
     * @return a path in the hidden folder
     * @throws IOException
     *             if that fails, or the process is ending and the hidden folder was deleted, which is not made anew
     */
    public Path createFolders(String name) throws IOException {
        Path made = staging.path().resolve(name);
        staging.publish(() -> Files.createDirectories(made));
        return made;
    }

    /**
     * Writes a file, and forces it to the disk.
     *
     * @param name
     *            its name beside the main file, or that of the main file
     * @param content
     *            writes the bytes
     * @throws IOException
     *             if that fails, or there is a folder, a device or the like in its place
     */
    public void write(String name, AtomicFile.Content content) throws IOException {
        try (FileChannel channel = FileChannel.open(file(name), StandardOpenOption.CREATE_NEW,
                StandardOpenOption.WRITE)) {
            AtomicFile.fill(folder.resolve(name), channel, content);
        }
    }

    /**
     * Writes a file of text in UTF-8, and forces it to the disk.
     *
     * @param name
     *            its name beside the main file, or that of the main file
     * @param text
     *            writes the characters
     * @throws IOException
     *             if that fails, or there is a folder, a device or the like in its place
     */
    public void writeText(String name, AtomicFile.Text text) throws IOException {
        write(name, AtomicFile.encoded(text));
    }

    /**
     * Deletes a file when the others are put in place, unless a new one was written.
     *
     * @param name
     *            its name beside the main file; it need not exist
     */
    public void remove(String name) {
        removed.add(name);
    }

    /**
     * Puts all files in place, the main file last.
     *
     * @throws FileAlreadyExistsException
     *             if one would replace an input of the same command, see {@link InputFiles}, that has another content
     * @throws IOException
     *             if one of them cannot be put in place; then all places are as they were
     */
    public void publish() throws IOException {
        List<String> names = new ArrayList<>();
        try (Stream<Path> all = Files.list(staging.path())) {
            all.filter(each -> !staging.isLock(each) && !each.equals(file())).sorted()
                    .forEach(each -> names.add(String.valueOf(each.getFileName())));
        }
        removed.removeAll(names);
        names.addAll(removed);
        if (Files.exists(file())) {
            names.add(String.valueOf(main.getFileName()));
        }
        List<String> changed = new ArrayList<>();
        for (String name : names) {
            Path place = folder.resolve(name);
            requireReplaceable(place);
            if (InputFiles.read(place) == null) {
                changed.add(name);
            } else if (removed.contains(name) || Files.mismatch(staging.path().resolve(name), place) >= 0) {
                InputFiles.requireNotRead(place);
            }
        }
        staging.publish(() -> exchange(changed));
    }

    private void exchange(List<String> names) throws IOException {
        Path replaced = Files.createDirectory(staging.path().resolve(REPLACED));
        List<String> begun = new ArrayList<>();
        try {
            for (String name : names) {
                Path place = folder.resolve(name);
                begun.add(name);
                if (Files.exists(place)) {
                    Files.move(place, replaced.resolve(name), StandardCopyOption.ATOMIC_MOVE);
                }
                if (!removed.contains(name)) {
                    Files.move(staging.path().resolve(name), place, StandardCopyOption.ATOMIC_MOVE);
                }
            }
        } catch (IOException e) {
            for (String name : begun.reversed()) {
                restore(replaced.resolve(name), folder.resolve(name), removed.contains(name), e);
            }
            throw e;
        }
    }

    private void restore(Path old, Path place, boolean wasRemoved, IOException failure) {
        try {
            if (Files.exists(old)) {
                Files.move(old, place, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
            } else if (!wasRemoved && !Files.exists(staging.path().resolve(String.valueOf(place.getFileName())))) {
                // It was moved to a place where nothing was.
                Files.deleteIfExists(place);
            }
        } catch (IOException e) {
            failure.addSuppressed(e);
        }
    }

    /**
     * Moves the hidden folder itself into place, with its files, where nothing may be yet.
     *
     * @throws IOException
     *             if it cannot be moved
     */
    public void publishAsFolder() throws IOException {
        staging.publish(() -> {
            staging.unlock();
            Files.move(staging.path(), main, StandardCopyOption.ATOMIC_MOVE);
        });
    }

    /** Deletes the hidden folder with what was not put in place. */
    @Override
    public void close() throws IOException {
        staging.close();
    }
}
