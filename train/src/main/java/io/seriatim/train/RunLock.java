package io.seriatim.train;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * An exclusive lock on the folder of a run. It is a lock of the operating system on the file {@value #FILE}, so it is
 * released when the process ends for any reason. The file itself stays in the folder without effect.
 *
 * <p>
 * On POSIX systems a process loses the lock when it closes <i>any</i> descriptor of the file. So this process opens the
 * file only while it does not hold the lock, which {@link #HELD} records. The file is never removed: another process
 * may have opened it and be about to lock it, and would then hold the lock of a file that later processes do not find.
 */
public final class RunLock implements AutoCloseable {
    private static final String FILE = "run.lock";
    /** The maximum number of bytes that are read from the file. */
    private static final int LONGEST = 1024;
    private static final Pattern HOLDER = Pattern.compile("process \\d+ on host [\\w.-]+");
    /** The folders whose lock this process holds or is acquiring. */
    private static final Set<Path> HELD = ConcurrentHashMap.newKeySet();

    private final Path folder;
    private @Nullable Taken taken;

    /** A lock that this process holds. */
    private record Taken(Path real, FileChannel channel) {
    }

    private RunLock(Path folder) {
        this.folder = folder;
    }

    /**
     * Creates a lock on a folder, without acquiring it.
     *
     * @param run
     *            the folder of a run, which need not exist yet
     * @return the lock
     */
    public static RunLock of(Path run) {
        return new RunLock(run);
    }

    /**
     * Acquires the lock, unless this object already holds it. Creates the folder if it does not exist.
     *
     * @throws RunInUseException
     *             if another training, in this process or another, holds it
     * @throws IOException
     *             if the folder or the file cannot be created or locked
     */
    public synchronized void acquire() throws IOException {
        if (taken != null) {
            return;
        }
        String self = "process " + ProcessHandle.current().pid() + " on host " + host();
        Files.createDirectories(folder);
        Path real = folder.toRealPath();
        if (!HELD.add(real)) {
            throw inUse(self);
        }
        try {
            taken = new Taken(real, locked(self));
        } finally {
            if (taken == null) {
                HELD.remove(real);
            }
        }
    }

    private FileChannel locked(String self) throws IOException {
        FileChannel channel = FileChannel.open(folder.resolve(FILE), StandardOpenOption.CREATE, StandardOpenOption.READ,
                StandardOpenOption.WRITE);
        boolean kept = false;
        try {
            if (!lock(channel)) {
                throw inUse(holder(channel));
            }
            channel.truncate(0);
            ByteBuffer text = StandardCharsets.UTF_8.encode(self + "\n");
            while (text.hasRemaining()) {
                channel.write(text);
            }
            kept = true;
            return channel;
        } finally {
            if (!kept) {
                channel.close();
            }
        }
    }

    private boolean lock(FileChannel channel) throws IOException {
        try {
            // The lock is held until the channel is closed.
            FileLock lock = channel.tryLock();
            return lock != null;
        } catch (IOException e) {
            throw new IOException("The file " + folder.resolve(FILE) + " cannot be locked (" + e.getMessage()
                    + "), so two trainings could use the folder: train into a folder of a file system "
                    + "that supports locks",
                    e);
        }
    }

    private RunInUseException inUse(String holder) {
        return new RunInUseException(
                "The folder " + folder + " is in use by " + holder
                        + ": wait until that training has ended, or train into another folder");
    }

    private static String holder(FileChannel channel) {
        ByteBuffer bytes = ByteBuffer.allocate(LONGEST);
        try {
            channel.read(bytes, 0);
        } catch (IOException e) {
            // On some systems a locked file cannot be read.
            return "another training";
        }
        return named(new String(bytes.array(), 0, bytes.position(), StandardCharsets.UTF_8));
    }

    /**
     * Returns the process named in the text of a lock file, or a general description if the text is incomplete or was
     * changed.
     */
    static String named(String text) {
        String line = text.lines().findFirst().orElse("");
        return HOLDER.matcher(line).matches() ? line : "another training";
    }

    /** The host name, from the kernel if possible, because that needs no name server. */
    private static String host() {
        Path kernels = Path.of("/proc/sys/kernel/hostname");
        try {
            String name = Files.isReadable(kernels)
                    ? Files.readString(kernels).strip()
                    : InetAddress.getLocalHost().getHostName();
            return name.isEmpty() ? "unknown" : name;
        } catch (IOException e) {
            return "unknown";
        }
    }

    /** Releases the lock, if this object holds it. */
    @Override
    public synchronized void close() throws IOException {
        Taken held = taken;
        if (held != null) {
            taken = null;
            try {
                held.channel.close();
            } finally {
                HELD.remove(held.real);
            }
        }
    }
}
