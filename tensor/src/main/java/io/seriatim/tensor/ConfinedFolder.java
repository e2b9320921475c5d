package io.seriatim.tensor;

import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.Channels;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A folder for files whose names are not trusted, such as names in a program that was read from a file. No name leads
 * out of it: neither an absolute name, nor {@code ..}, nor a symbolic link anywhere in the name.
 *
 * <p>
 * Names separate folders by {@code /} and are relative to the folder; an absolute name is accepted if it begins with
 * the folder. Hard links are ordinary files of the folder. Thread-safe.
 */
public final class ConfinedFolder {
    // Where the system has openat (SecureDirectoryStream), each folder of a name is opened relative to the one before
    // it, without following links, and files are opened, created and moved relative to the last one. If an attacker
    // creates a link between two of these steps, the next step rejects it, or the link lies outside of the folders that
    // are already open. On other systems, a path is checked component by component before it is used; a link that is
    // created after the check is followed.
    private static final Set<String> DEVICES = Set.of("con", "prn", "aux", "nul", "conin$", "conout$");

    private final Path given;
    private final Path root;
    private final @Nullable Object key;
    private final boolean byHandle;

    /**
     * Reads the bytes of a file.
     *
     * @param <T>
     *            what they are read as
     */
    @FunctionalInterface
    public interface Reading<T> {
        /**
         * Reads them.
         *
         * @param in
         *            not buffered; the caller closes it
         * @param size
         *            the number of bytes
         * @return the result
         * @throws IOException
         *             if that fails
         */
        T read(InputStream in, long size) throws IOException;
    }

    private ConfinedFolder(Path given, Path root, @Nullable Object key, boolean byHandle) {
        this.given = given;
        this.root = root;
        this.key = key;
        this.byHandle = byHandle;
    }

    /**
     * An existing folder.
     *
     * @param folder
     *            may itself be a link, which is resolved now
     * @return the folder
     * @throws IOException
     *             if it is not a folder
     */
    public static ConfinedFolder of(Path folder) throws IOException {
        return of(folder, true);
    }

    /** With {@code byHandle} false, works as on systems without openat. */
    static ConfinedFolder of(Path folder, boolean byHandle) throws IOException {
        Path root = folder.toRealPath();
        BasicFileAttributes attributes = Files.readAttributes(root, BasicFileAttributes.class,
                LinkOption.NOFOLLOW_LINKS);
        if (!attributes.isDirectory()) {
            throw new FileSystemException(folder.toString(), null, "it is not a folder");
        }
        return new ConfinedFolder(folder.toAbsolutePath().normalize(), root, attributes.fileKey(), byHandle);
    }

    /**
     * The folder itself.
     *
     * @return its real path
     */
    public Path path() {
        return root;
    }

    /**
     * Refuses a name that leads out of the folder, or could: by what it says, and by what lies in the folder now.
     *
     * @param name
     *            of a file that need not be there
     * @throws IOException
     *             with the reason
     */
    public void check(String name) throws IOException {
        List<String> parts = parts(name);
        try (Walk walk = new Walk(name)) {
            for (String part : parts.subList(0, parts.size() - 1)) {
                if (walk.attributes(part) == null) {
                    return;
                }
                walk.enter(part);
            }
            walk.file(parts.getLast());
        }
    }

    /**
     * Reads a file.
     *
     * @param <T>
     *            what of
     * @param name
     *            of the file
     * @param reading
     *            reads its bytes
     * @return what it gave
     * @throws IOException
     *             if the name leads out of the folder, there is no such file, it is something else than a file, or
     * reading fails
     */
    public <T> T read(String name, Reading<T> reading) throws IOException {
        List<String> parts = parts(name);
        try (Walk walk = new Walk(name)) {
            for (String part : parts.subList(0, parts.size() - 1)) {
                walk.enter(part);
            }
            if (walk.file(parts.getLast()) == null) {
                throw new NoSuchFileException(name, null, "there is no such file in " + root);
            }
            try (SeekableByteChannel channel = walk.open(parts.getLast(), StandardOpenOption.READ)) {
                return reading.read(Channels.newInputStream(channel), channel.size());
            }
        }
    }

    /**
     * Writes a file: under a temporary name in the same folder, which is moved into place once it is complete. Missing
     * folders of the name are created.
     *
     * @param name
     *            of the file
     * @param replace
     *            whether a file of this name is replaced
     * @param content
     *            writes its bytes
     * @throws FileAlreadyExistsException
     *             if the file exists and is not to be replaced
     * @throws IOException
     *             if the name leads out of the folder, names something other than a file, or writing fails; the former
     *             content is then unchanged
     */
    public void write(String name, boolean replace, AtomicFile.Content content) throws IOException {
        List<String> parts = parts(name);
        String last = parts.getLast();
        try (Walk walk = new Walk(name)) {
            for (String part : parts.subList(0, parts.size() - 1)) {
                if (walk.attributes(part) == null) {
                    walk.make(part);
                }
                walk.enter(part);
            }
            requireFree(walk, name, last, replace);
            InputFiles.requireNotRead(walk.path.resolve(last));
            try (TemporaryFiles.Temporary temporary = TemporaryFiles.file(walk.path, new InWalk(walk))) {
                AtomicFile.fill(Path.of(last), temporary.channel(), content);
                temporary.publish(() -> {
                    requireFree(walk, name, last, replace);
                    walk.move(String.valueOf(temporary.path().getFileName()), last);
                });
            }
        }
    }

    private static void requireFree(Walk walk, String name, String last, boolean replace) throws IOException {
        if (walk.file(last) != null && !replace) {
            throw new FileAlreadyExistsException(name, null, "the file is there already");
        }
    }

    private List<String> parts(String name) throws IOException {
        String relative = name;
        if (name.startsWith("/")) {
            relative = within(name);
        }
        return parts(name, relative, File.separatorChar == '\\');
    }

    /** An absolute name without the folder. */
    private String within(String name) throws IOException {
        for (Path folder : List.of(given, root)) {
            String prefix = folder.getNameCount() == 0 ? "" : folder.toString();
            if (name.startsWith(prefix) && name.startsWith("/", prefix.length())) {
                return name.substring(prefix.length());
            }
        }
        throw refused(name, "the path is absolute, and not one of the folder " + root);
    }

    /**
     * The components of a name; the last one is the file. The rules for Windows apply only there: on other systems,
     * such names are valid.
     */
    static List<String> parts(String name, String relative, boolean windows) throws IOException {
        if (name.length() > 1 && name.charAt(1) == ':' && isLetter(name.charAt(0))) {
            throw refused(name, "it begins with a drive of Windows");
        }
        List<String> parts = new ArrayList<>();
        for (String part : relative.split("/", -1)) {
            requireOrdinary(name, part, windows);
            if (!part.isEmpty() && !part.equals(".")) {
                parts.add(part);
            }
        }
        if (parts.isEmpty() || relative.endsWith("/") || relative.endsWith("/.")) {
            throw refused(name, "it names no file");
        }
        return parts;
    }

    private static boolean isLetter(char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    }

    private static void requireOrdinary(String name, String part, boolean windows) throws IOException {
        if (part.equals("..")) {
            throw refused(name, "the path goes up ('..')");
        }
        if (part.indexOf('\\') >= 0) {
            throw refused(name, "it has a backslash; folders are separated by /");
        }
        if (part.chars().anyMatch(c -> c < ' ' || c == 0x7f)) {
            throw refused(name, "it has a control character");
        }
        boolean dotted = part.endsWith(".") && !part.equals(".");
        if (windows && (part.indexOf(':') >= 0 || part.endsWith(" ") || dotted || isDevice(part))) {
            throw refused(name, "on Windows '" + part + "' is not the name of a file");
        }
        try {
            Path _ = Path.of(part);
        } catch (InvalidPathException e) {
            throw refused(name, "it cannot be the name of a file here: " + e.getReason());
        }
    }

    /** CON, COM1 and the like, also with an extension. */
    private static boolean isDevice(String part) {
        String base = part.toLowerCase(Locale.ROOT).replaceFirst("[ .].*$", "");
        return DEVICES.contains(base) || base.matches("(com|lpt)[0-9¹²³]");
    }

    private static FileSystemException refused(String name, String reason) {
        return new FileSystemException(name, null, reason);
    }

    /** Creates temporary files by the handle of a folder, which may have been moved since. */
    private record InWalk(Walk walk) implements TemporaryFiles.Opening {
        @Override
        public SeekableByteChannel open(Path path) throws IOException {
            return walk.open(String.valueOf(path.getFileName()), StandardOpenOption.CREATE_NEW,
                    StandardOpenOption.WRITE);
        }

        @Override
        public boolean isThere(Path path) throws IOException {
            return walk.attributes(String.valueOf(path.getFileName())) != null;
        }
    }

    /** The folders of a name, each opened within the one before. */
    private final class Walk implements Closeable {
        private final String name;
        private final Deque<DirectoryStream<Path>> opened = new ArrayDeque<>();
        /** Null where the system has no handles of folders. */
        private @Nullable SecureDirectoryStream<Path> here;
        private @Nullable SecureDirectoryStream<Path> top;
        private Path path = root;

        @SuppressWarnings("StreamResourceLeak") // Closed with the walk.
        Walk(String name) throws IOException {
            this.name = name;
            DirectoryStream<Path> stream = Files.newDirectoryStream(root);
            opened.push(stream);
            if (byHandle && stream instanceof SecureDirectoryStream<Path> secure) {
                here = secure;
                top = secure;
            }
            if (!Objects.equals(key, attributesOfRoot().fileKey())) {
                close();
                throw refused(name, "the folder " + root + " has become another one");
            }
        }

        private BasicFileAttributes attributesOfRoot() throws IOException {
            return top == null
                    ? Files.readAttributes(root, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
                    : top.getFileAttributeView(BasicFileAttributeView.class).readAttributes();
        }

        /** Of what has a name here; null if there is nothing. Of a link, its own. */
        @Nullable
        BasicFileAttributes attributes(String part) throws IOException {
            try {
                return here == null
                        ? Files.readAttributes(path.resolve(part), BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
                        : here.getFileAttributeView(Path.of(part), BasicFileAttributeView.class,
                                LinkOption.NOFOLLOW_LINKS)
                                .readAttributes();
            } catch (NoSuchFileException e) {
                return null;
            }
        }

        void enter(String part) throws IOException {
            BasicFileAttributes attributes = attributes(part);
            if (attributes == null) {
                throw new NoSuchFileException(name, null, "there is no folder '" + part + "' in " + path);
            }
            requireNoLink(part, attributes);
            if (!attributes.isDirectory()) {
                throw refused(name, "'" + part + "' is not a folder");
            }
            if (here != null) {
                here = here.newDirectoryStream(Path.of(part), LinkOption.NOFOLLOW_LINKS);
                opened.push(here);
            }
            path = path.resolve(part);
        }

        /**
         * The attributes of a file; null if it does not exist. Anything but a file is rejected: opening a pipe may
         * block forever.
         */
        @Nullable
        BasicFileAttributes file(String part) throws IOException {
            BasicFileAttributes attributes = attributes(part);
            if (attributes != null) {
                requireNoLink(part, attributes);
                if (!attributes.isRegularFile()) {
                    throw refused(name, "'" + part + "' is not a regular file");
                }
            }
            return attributes;
        }

        /** What Windows has beside files, folders and links (junctions) may lead elsewhere too. */
        private void requireNoLink(String part, BasicFileAttributes attributes) throws IOException {
            if (attributes.isSymbolicLink() || (attributes.isDirectory() && attributes.isOther())) {
                throw refused(name, "'" + part + "' is a symbolic link");
            }
        }

        SeekableByteChannel open(String part, OpenOption... options) throws IOException {
            Set<OpenOption> all = new HashSet<>(List.of(options));
            all.add(LinkOption.NOFOLLOW_LINKS);
            return here == null
                    ? Files.newByteChannel(path.resolve(part), all)
                    : here.newByteChannel(Path.of(part), all);
        }

        /** There is no mkdirat: a folder is made at the top, under a name that nobody knows, and moved to its place. */
        void make(String part) throws IOException {
            if (here == null || top == null) {
                try {
                    Files.createDirectory(path.resolve(part));
                } catch (FileAlreadyExistsException e) {
                    requirePresent(part, e);
                }
                return;
            }
            Path temporary = Path.of("." + UUID.randomUUID() + ".part");
            Files.createDirectory(root.resolve(temporary));
            try {
                top.move(temporary, here, Path.of(part));
            } catch (FileSystemException e) {
                top.deleteDirectory(temporary);
                // Another process may have created a folder there, and put files into it.
                requirePresent(part, e);
            }
        }

        private void requirePresent(String part, FileSystemException failure) throws IOException {
            if (attributes(part) == null) {
                throw failure;
            }
        }

        /** Replaces a file; a link of that name is replaced itself. */
        void move(String from, String to) throws IOException {
            if (here == null) {
                Files.move(path.resolve(from), path.resolve(to), StandardCopyOption.REPLACE_EXISTING,
                        StandardCopyOption.ATOMIC_MOVE);
            } else {
                here.move(Path.of(from), here, Path.of(to));
            }
        }

        @Override
        public void close() throws IOException {
            IOException failure = null;
            while (!opened.isEmpty()) {
                try {
                    opened.pop().close();
                } catch (IOException e) {
                    failure = e;
                }
            }
            if (failure != null) {
                throw failure;
            }
        }
    }
}
