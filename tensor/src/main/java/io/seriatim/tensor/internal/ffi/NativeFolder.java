package io.seriatim.tensor.internal.ffi;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.errorprone.annotations.Var;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URL;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32;
import java.util.zip.CheckedInputStream;
import org.jspecify.annotations.Nullable;

/**
 * A folder of native libraries. They are code that this process runs: each must equal the one in the jar, bit by bit.
 *
 * <p>
 * Nobody else may write to the folder: it belongs to the user or to root, and others have no write permission. A
 * manifest in it records the state of each library when it was last compared with the jar: its hash and its file
 * attributes, including the time of the last status change, which no process can set. As long as the attributes are the
 * same, the library is not read. Otherwise it is hashed; a damaged or missing library is unpacked to a temporary name,
 * compared and moved into place; processes that have loaded the old file keep it. A file lock serialises processes that
 * start at the same time.
 *
 * <p>
 * The path on which nothing has changed runs once per start, in code that has not been compiled: it avoids lambdas,
 * streams and string concatenation, whose first use would take longer than everything else.
 */
@SuppressWarnings("UnnecessaryStringBuilder") // See above.
final class NativeFolder {
    private static final String MANIFEST = "manifest";
    private static final String TEMPORARY = "unpacking";
    private static final String FIRST_LINE = "seriatim natives 1";
    private static final int WRITE_OTHERS = 0022;
    private static final int WRITE_ALL = 0002;
    private static final int STICKY = 01000;
    private static final int KIND = 0170000;
    private static final int LINK = 0120000;
    /** A change within the same tick of the file system's clock as the manifest's would not show. */
    static final long TICK_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final int MOST_MANIFEST = 1 << 16;
    private static final Object TURNS = new Object();

    private final Path folder;
    private final List<Packed> libraries;
    private final long tickNanos;
    private int hashed;
    private int written;

    /**
     * A library in its jar.
     *
     * @param length
     *            as the jar declares it, in bytes; −1 outside of a jar
     * @param crc
     *            as the jar declares it
     * @param url
     *            its location
     */
    record Packed(String name, long length, long crc, URL url) {
    }

    NativeFolder(Path folder, List<Packed> libraries) {
        this(folder, libraries, TICK_NANOS);
    }

    /**
     * For tests.
     *
     * @param tickNanos
     *            a manifest is trusted only if it is younger than the libraries' last change by at least this time
     */
    NativeFolder(Path folder, List<Packed> libraries, long tickNanos) {
        this.folder = folder;
        this.libraries = libraries;
        this.tickNanos = tickNanos;
    }

    /** How many libraries were hashed. */
    int hashed() {
        return hashed;
    }

    /** How many libraries were unpacked. */
    int written() {
        return written;
    }

    /**
     * Ensures that all libraries exist and are intact.
     *
     * @param own
     *            whether the parent folder is used for this purpose only, so that write permissions of others are
     *            removed
     */
    Path unpack(boolean own) throws IOException {
        Path around = Objects.requireNonNull(folder.toAbsolutePath().getParent());
        Path base = (Files.exists(around) ? around : Files.createDirectories(around, rights("rwxr-xr-x"))).toRealPath();
        requireBase(base, own);
        Path real = base.resolve(String.valueOf(folder.getFileName()));
        make(real);
        requireOwn(real);
        synchronized (TURNS) {
            if (!isSealed(real)) {
                repair(real);
            }
        }
        return real;
    }

    private static FileAttribute<?>[] rights(String rights) {
        return hasModes()
                ? new FileAttribute<?>[]{PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(rights))}
                : new FileAttribute<?>[0];
    }

    private static boolean hasModes() {
        return FileSystems.getDefault().supportedFileAttributeViews().contains("unix");
    }

    /** Not with the rights that new folders get here, which may be any. */
    private static void make(Path folder) throws IOException {
        if (Files.exists(folder, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        try {
            Files.createDirectory(folder, rights("rwx------"));
        } catch (FileAlreadyExistsException e) {
            // Another process has created it.
            return;
        }
    }

    /** Who may write to the folder around it can put another in its place. */
    private static void requireBase(Path base, boolean own) throws IOException {
        if (!hasModes()) {
            return;
        }
        State state = State.of(base);
        if ((state.mode & WRITE_OTHERS) != 0 && (state.mode & STICKY) == 0) {
            if (!own || !isOwn(base, state.uid)) {
                throw writable(base, state.mode);
            }
            Files.setPosixFilePermissions(base, PosixFilePermissions.fromString("rwxr-xr-x"));
        }
        for (Path above = base.getParent(); above != null; above = above.getParent()) {
            int mode = State.of(above).mode;
            if ((mode & WRITE_ALL) != 0 && (mode & STICKY) == 0) {
                throw writable(above, mode);
            }
        }
    }

    private static void requireOwn(Path folder) throws IOException {
        BasicFileAttributes attributes = Files.readAttributes(folder, BasicFileAttributes.class,
                LinkOption.NOFOLLOW_LINKS);
        if (attributes.isSymbolicLink() || !attributes.isDirectory()) {
            throw new FileSystemException(folder.toString(), null,
                    "native libraries are loaded from a folder, but this is "
                            + (attributes.isSymbolicLink() ? "a symbolic link" : "not a folder") + ": remove it"
                            + orElsewhere());
        }
        if (!hasModes()) {
            return;
        }
        State state = State.of(folder);
        if ((state.mode & WRITE_OTHERS) != 0) {
            throw writable(folder, state.mode);
        }
        if (!isOwn(folder, state.uid)) {
            throw new FileSystemException(folder.toString(), null,
                    "native libraries are loaded only from a folder of the current user, but this "
                            + "one belongs to another user (" + Files.getOwner(folder, LinkOption.NOFOLLOW_LINKS)
                            + "): remove it" + orElsewhere());
        }
    }

    private static FileSystemException writable(Path folder, int mode) {
        return new FileSystemException(folder.toString(), null,
                "native libraries are loaded from here, but other users may write to this folder (mode "
                        + Integer.toOctalString(mode & 07777)
                        + "): run chmod go-w " + folder + orElsewhere());
    }

    private static String orElsewhere() {
        return ", or name a folder of your own with -D" + NativeFiles.FOLDER + "=DIR";
    }

    /** Root may do anything anyway. */
    private static boolean isOwn(Path folder, int uid) throws IOException {
        return uid == 0 || uid == ownUid(folder);
    }

    private static int ownUid(Path folder) throws IOException {
        Path status = Path.of("/proc/self/status");
        if (Files.isReadable(status)) {
            for (String line : Files.readAllLines(status)) {
                if (line.startsWith("Uid:")) {
                    return Integer.parseInt(line.strip().split("\\s+", -1)[2]);
                }
            }
        }
        Path file = Files.createTempFile(folder, TEMPORARY, null);
        try {
            return State.of(file).uid;
        } finally {
            Files.delete(file);
        }
    }

    /** What the system tells of a file without reading it. */
    private record State(int mode, int uid, long inode, long device, long size, long changed, long modified) {
        static State of(Path file) throws IOException {
            Map<String, Object> all = Files.readAttributes(file, "unix:mode,uid,ino,dev,size,ctime,lastModifiedTime",
                    LinkOption.NOFOLLOW_LINKS);
            return new State((int) number(all, "mode"), (int) number(all, "uid"), number(all, "ino"),
                    number(all, "dev"),
                    number(all, "size"), time(all, "ctime"), time(all, "lastModifiedTime"));
        }

        private static long number(Map<String, Object> all, String name) {
            return ((Number) Objects.requireNonNull(all.get(name), name)).longValue();
        }

        private static long time(Map<String, Object> all, String name) {
            return ((FileTime) Objects.requireNonNull(all.get(name), name)).to(TimeUnit.NANOSECONDS);
        }

        boolean isSafe(Path folder) throws IOException {
            return (mode & KIND) != LINK && (mode & WRITE_OTHERS) == 0 && isOwn(folder, uid);
        }

        void append(StringBuilder to) {
            to.append(mode).append(' ').append(uid).append(' ').append(inode).append(' ').append(device).append(' ')
                    .append(size)
                    .append(' ')
                    .append(changed).append(' ').append(modified).append(' ');
        }
    }

    private static @Nullable State state(Path file) throws IOException {
        try {
            return State.of(file);
        } catch (NoSuchFileException e) {
            return null;
        }
    }

    /** Whether the system tells of each library what the manifest says. */
    private boolean isSealed(Path real) throws IOException {
        State manifest = hasModes() ? state(real.resolve(MANIFEST)) : null;
        if (manifest == null || !manifest.isSafe(real)) {
            return false;
        }
        Map<String, String> lines = lines(real);
        for (Packed library : libraries) {
            State state = state(real.resolve(library.name()));
            String line = lines.get(library.name());
            if (state == null || line == null || !state.isSafe(real)
                    || state.changed > manifest.changed - tickNanos || !line.startsWith(said(library, state))) {
                return false;
            }
        }
        return true;
    }

    private static String stamp(Packed library) {
        return new StringBuilder(32).append(library.length()).append(' ').append(Long.toHexString(library.crc()))
                .append(' ').toString();
    }

    /** What the manifest says of a library that is in this state, but for the hash. */
    private static String said(Packed library, State state) {
        StringBuilder text = new StringBuilder(128).append(stamp(library));
        state.append(text);
        return text.toString();
    }

    /** By library; none if the manifest is not whole. */
    private static Map<String, String> lines(Path real) throws IOException {
        Path file = real.resolve(MANIFEST);
        State state = state(file);
        Map<String, String> lines = new HashMap<>();
        if (state == null || !state.isSafe(real) || state.size > MOST_MANIFEST) {
            return lines;
        }
        String text = new String(Files.readAllBytes(file), UTF_8);
        int last = text.lastIndexOf('\n', text.length() - 2) + 1;
        if (text.startsWith(FIRST_LINE) && text.substring(last).equals(seal(text.substring(0, last)))) {
            int from = text.indexOf('\n') + 1;
            while (from < last) {
                int space = text.indexOf(' ', from);
                int end = text.indexOf('\n', from);
                lines.put(text.substring(from, space), text.substring(space + 1, end));
                from = end + 1;
            }
        }
        return lines;
    }

    /** Against damage. Who may write here could write a seal too. */
    private static String seal(String text) {
        CRC32 crc = new CRC32();
        crc.update(text.getBytes(UTF_8));
        return new StringBuilder(16).append("seal ").append(Long.toHexString(crc.getValue())).append('\n').toString();
    }

    private void repair(Path real) throws IOException {
        try (FileChannel channel = FileChannel.open(real.resolve("lock"), StandardOpenOption.CREATE,
                StandardOpenOption.WRITE,
                LinkOption.NOFOLLOW_LINKS); FileLock lock = lock(channel)) {
            if (!lock.isValid() || isSealed(real)) {
                return;
            }
            removeTemporaries(real);
            Map<String, String> lines = hasModes() ? lines(real) : Map.of();
            StringBuilder manifest = new StringBuilder(FIRST_LINE).append('\n');
            for (Packed library : libraries) {
                Path file = real.resolve(library.name());
                String hash = isSafe(real, file) ? whole(library, file, lines.get(library.name())) : null;
                hash = hash == null ? write(library, real) : hash;
                if (hasModes()) {
                    manifest.append(library.name()).append(' ').append(said(library, State.of(file))).append(hash)
                            .append('\n');
                }
            }
            if (hasModes()) {
                Path temporary = Files.createTempFile(real, TEMPORARY, null);
                Files.writeString(temporary, manifest.append(seal(manifest.toString())));
                Files.move(temporary, real.resolve(MANIFEST), StandardCopyOption.ATOMIC_MOVE,
                        StandardCopyOption.REPLACE_EXISTING);
            }
        } catch (FileSystemException e) {
            requireWhole(real, e);
        }
    }

    /** In a folder that cannot be written to, as in an image of a container, all must be whole as it is. */
    private void requireWhole(Path real, FileSystemException failure) throws IOException {
        boolean readOnly = failure instanceof AccessDeniedException || !Files.isWritable(real);
        for (Packed library : libraries) {
            Path file = real.resolve(library.name());
            if (!readOnly || !isSafe(real, file) || whole(library, file, null) == null) {
                throw failure;
            }
        }
    }

    private static boolean isSafe(Path real, Path file) throws IOException {
        State state = hasModes() ? state(file) : null;
        return hasModes() ? state != null && state.isSafe(real) : Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS);
    }

    /** Another class loader of this process may hold the lock, which is then an error instead of a wait. */
    private static FileLock lock(FileChannel channel) throws IOException {
        for (;;) {
            try {
                return channel.lock();
            } catch (OverlappingFileLockException e) {
                try {
                    Thread.sleep(10);
                } catch (InterruptedException interrupt) {
                    Thread.currentThread().interrupt();
                    throw new IOException("interrupted while another thread unpacks native libraries", interrupt);
                }
            }
        }
    }

    /** Of processes that ended in the middle: whoever holds the lock is the only one who writes. */
    private static void removeTemporaries(Path real) throws IOException {
        try (DirectoryStream<Path> left = Files.newDirectoryStream(real, TEMPORARY + "*")) {
            for (Path file : left) {
                Files.deleteIfExists(file);
            }
        }
    }

    /** The hash of a library that is what the manifest says, or the jar where that says nothing; else null. */
    private @Nullable String whole(Packed library, Path file, @Nullable String line) throws IOException {
        if (library.length() >= 0 && Files.size(file) != library.length()) {
            return null;
        }
        hashed++;
        CRC32 crc = new CRC32();
        String hash = hash(file, crc);
        boolean said = line == null || !line.startsWith(stamp(library)) || line.endsWith(" " + hash);
        return said && (library.length() < 0 || crc.getValue() == library.crc()) ? hash : null;
    }

    private static String hash(Path file, CRC32 crc) throws IOException {
        MessageDigest digest = sha256();
        byte[] buffer = new byte[1 << 16];
        try (InputStream in = Files.newInputStream(file, LinkOption.NOFOLLOW_LINKS)) {
            for (@Var
            int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                digest.update(buffer, 0, n);
                crc.update(buffer, 0, n);
            }
        }
        return HexFormat.of().formatHex(digest.digest());
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every Java has SHA-256", e);
        }
    }

    private String write(Packed library, Path real) throws IOException {
        written++;
        Path temporary = Files.createTempFile(real, TEMPORARY, null);
        try {
            CRC32 crc = new CRC32();
            MessageDigest digest = sha256();
            // Written into the file that was created for the user only: a copy would create another file, with the
            // default permissions.
            try (InputStream in = new DigestInputStream(new CheckedInputStream(library.url().openStream(), crc),
                    digest);
                    OutputStream out = Files.newOutputStream(temporary)) {
                in.transferTo(out);
            }
            if (library.length() >= 0
                    && (Files.size(temporary) != library.length() || crc.getValue() != library.crc())) {
                throw new IOException("the library " + library.name()
                        + " in its jar is damaged: its length or checksum is not what the jar declares");
            }
            Files.move(temporary, real.resolve(library.name()), StandardCopyOption.ATOMIC_MOVE,
                    StandardCopyOption.REPLACE_EXISTING);
            return HexFormat.of().formatHex(digest.digest());
        } finally {
            Files.deleteIfExists(temporary);
        }
    }
}
