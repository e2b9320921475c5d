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
 * The right to write into the folder of a run. The operating system holds it, so it ends with the process, however that
 * ends: the file {@value #FILE} stays in the folder, and keeps no one out by being there.
 *
 * <p>
 * A POSIX system gives a process's lock up when the process closes <i>any</i> descriptor of the file. So this process
 * opens the file only while it does not hold the lock, which {@link #HELD} says. The file is never removed: another
 * process may have opened it and be about to lock it, and would then hold the lock of a file that the next one does not
 * find.
 */
public final class RunLock implements AutoCloseable {
    private static final String FILE = "run.lock";
    /** The text of the file has no more bytes. */
    private static final int LONGEST = 1024;
    private static final Pattern HOLDER = Pattern.compile("process \\d+ on host [\\w.-]+");
    /** The folders whose lock this process holds or is taking. */
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
     * The lock of a folder, which is not taken yet.
     *
     * @param run
     *            the folder of a run; need not exist yet
     * @return to be acquired
     */
    public static RunLock of(Path run) {
        return new RunLock(run);
    }

    /**
     * Takes the lock, unless this object holds it already. The folder is made if it does not exist.
     *
     * @throws RunInUseException
     *             if another training, in this process or another, holds it
     * @throws IOException
     *             if the folder or the file cannot be made or locked
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
            // It lasts until the channel is closed.
            FileLock lock = channel.tryLock();
            return lock != null;
        } catch (IOException e) {
            throw new IOException("The file " + folder.resolve(FILE) + " cannot be locked (" + e.getMessage()
                    + "), which keeps two trainings from one folder: train into a folder of a file system that has "
                    + "locks",
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
            // Some systems let nobody read what is locked.
            return "another training";
        }
        return named(new String(bytes.array(), 0, bytes.position(), StandardCharsets.UTF_8));
    }

    /** The process that a lock's file names; others may write into it, and its own may just be doing so. */
    static String named(String text) {
        String line = text.lines().findFirst().orElse("");
        return HOLDER.matcher(line).matches() ? line : "another training";
    }

    /** As the system itself says it where that needs no name server. */
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

    /** Gives the lock back, if this object holds it. */
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
