package io.seriatim.cluster.transport;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Makes memory that two processes of one machine share, for the bytes of their collectives: a file in the folder of
 * shared memory, whose name the one process tells the other through their connection, and which is deleted as soon as
 * the other has it too.
 *
 * <pre>
 * acceptor → connector   offer    magic, status, name, content
 * connector → acceptor   answer   magic, status
 * </pre>
 *
 * The name is a random number, never a path; the file must be a plain one of exactly the size, and begin with the
 * content that was told. Where the folder is missing or full, or the processes do not see the same files, they go on
 * with their sockets.
 */
final class SharedMemory {
    private static final System.Logger LOG = System.getLogger(SharedMemory.class.getName());
    /** Where Linux keeps files in memory only. Files elsewhere would be written to a disk. */
    private static final Path FOLDER = Path.of("/dev/shm");
    private static final String PREFIX = "seriatim-";
    private static final SecureRandom RANDOM = new SecureRandom();

    private static final int NAME = 16;
    private static final int CONTENT = 16;
    private static final int ANSWER_BYTES = 2 * Integer.BYTES;
    private static final int OFFER_BYTES = ANSWER_BYTES + NAME + CONTENT;
    private static final int NO = 0;
    private static final int YES = 1;

    /** Where the rings begin: the content comes before them. */
    private static final int START = 4096;
    private static final int RING = (SharedRing.BYTES + START - 1) / START * START;
    private static final int BYTES = START + 2 * RING;

    private final Arena arena;
    private final MemorySegment memory;
    private final @Nullable Path file;

    private SharedMemory(Arena arena, MemorySegment memory, @Nullable Path file) {
        this.arena = arena;
        this.memory = memory;
        this.file = file;
    }

    /**
     * Makes memory and offers it to the connector of a connection.
     *
     * @param channel
     *            the connection
     * @param isWanted
     *            whether to share any
     * @param deadline
     *            of {@link System#nanoTime}
     * @return what was offered, to be {@linkplain #isTaken accepted} or {@linkplain #drop dropped}; null if there is
     *         none
     * @throws IOException
     *             if the connection fails
     */
    static @Nullable SharedMemory offer(TimedChannel channel, boolean isWanted, long deadline) throws IOException {
        byte[] name = random(NAME);
        byte[] content = random(CONTENT);
        SharedMemory made = isWanted && Files.isDirectory(FOLDER) ? make(name, content) : null;
        try {
            ByteBuffer offer = ByteBuffer.allocate(OFFER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
            offer.putInt(Handshake.MAGIC).putInt(made == null ? NO : YES);
            if (made != null) {
                offer.put(name).put(content);
            }
            channel.write(offer.clear(), deadline);
            return made;
        } catch (IOException | RuntimeException e) {
            if (made != null) {
                made.drop();
            }
            throw e;
        }
    }

    private static byte[] random(int count) {
        byte[] bytes = new byte[count];
        RANDOM.nextBytes(bytes);
        return bytes;
    }

    private static Path path(byte[] name) {
        return FOLDER.resolve(PREFIX + HexFormat.of().formatHex(name));
    }

    private static @Nullable SharedMemory make(byte[] name, byte[] content) {
        Path file = path(name);
        Arena arena = Arena.ofShared();
        boolean isMade = false;
        boolean isThere = false;
        try (FileChannel channel = FileChannel.open(file,
                Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
            isThere = true;
            // Written rather than extended: a full folder is an error now, and not at the first access.
            ByteBuffer bytes = ByteBuffer.allocate(BYTES).put(content).clear();
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
            MemorySegment memory = channel.map(FileChannel.MapMode.READ_WRITE, 0, BYTES, arena);
            isMade = true;
            return new SharedMemory(arena, memory, file);
        } catch (IOException | UnsupportedOperationException e) {
            LOG.log(Level.DEBUG, "no memory is shared, sockets are used: " + e);
            return null;
        } finally {
            if (!isMade) {
                arena.close();
                if (isThere) {
                    delete(file);
                }
            }
        }
    }

    /**
     * Reads the connector's answer; the file is deleted then.
     *
     * @param channel
     *            the connection
     * @param deadline
     *            of {@link System#nanoTime}
     * @return whether the memory is shared; else it was dropped
     * @throws IOException
     *             if the connection fails
     */
    boolean isTaken(TimedChannel channel, long deadline) throws IOException {
        boolean isTaken = false;
        try {
            isTaken = isYes(channel.read(ANSWER_BYTES, deadline));
            return isTaken;
        } finally {
            if (isTaken && file != null) {
                delete(file);
            } else {
                drop();
            }
        }
    }

    private static boolean isYes(ByteBuffer message) throws IOException {
        int magic = message.getInt();
        int status = message.getInt();
        if (magic != Handshake.MAGIC || (status != YES && status != NO)) {
            throw new IOException("it sent bytes that say nothing about memory to share");
        }
        return status == YES;
    }

    /**
     * Reads the offer of the acceptor of a connection, and answers it.
     *
     * @param channel
     *            the connection
     * @param isWanted
     *            whether to share any
     * @param deadline
     *            of {@link System#nanoTime}
     * @return the memory; null if there is none
     * @throws IOException
     *             if the connection fails
     */
    static @Nullable SharedMemory take(TimedChannel channel, boolean isWanted, long deadline) throws IOException {
        ByteBuffer offer = channel.read(OFFER_BYTES, deadline);
        if (!isYes(offer)) {
            return null;
        }
        byte[] name = new byte[NAME];
        byte[] content = new byte[CONTENT];
        offer.get(name).get(content);
        SharedMemory taken = isWanted ? open(name, content) : null;
        try {
            ByteBuffer answer = ByteBuffer.allocate(ANSWER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
            channel.write(answer.putInt(Handshake.MAGIC).putInt(taken == null ? NO : YES).flip(), deadline);
            return taken;
        } catch (IOException | RuntimeException e) {
            if (taken != null) {
                taken.drop();
            }
            throw e;
        }
    }

    private static @Nullable SharedMemory open(byte[] name, byte[] content) {
        Path file = path(name);
        if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
            return null;
        }
        Arena arena = Arena.ofShared();
        boolean isOpen = false;
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE,
                LinkOption.NOFOLLOW_LINKS)) {
            if (channel.size() != BYTES) {
                return null;
            }
            MemorySegment memory = channel.map(FileChannel.MapMode.READ_WRITE, 0, BYTES, arena);
            isOpen = memory.asSlice(0, CONTENT).mismatch(MemorySegment.ofArray(content)) < 0;
            return isOpen ? new SharedMemory(arena, memory, null) : null;
        } catch (IOException | UnsupportedOperationException e) {
            LOG.log(Level.DEBUG, "no memory is shared, sockets are used: " + e);
            return null;
        } finally {
            if (!isOpen) {
                arena.close();
            }
        }
    }

    /**
     * The channel over this memory.
     *
     * @param under
     *            the connection's own channel
     * @param isAcceptor
     *            which side this process is
     * @param peer
     *            the rank of the other side
     * @return a channel that closes both
     */
    PeerChannel over(PeerChannel under, boolean isAcceptor, int peer) {
        MemorySegment first = memory.asSlice(START, RING);
        MemorySegment second = memory.asSlice(START + RING, RING);
        return new SharedChannel(under.socket(), arena, isAcceptor ? first : second, isAcceptor ? second : first, peer);
    }

    /** Gives the memory back, for joins that fail; the file is deleted. */
    void drop() {
        arena.close();
        if (file != null) {
            delete(file);
        }
    }

    private static void delete(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            LOG.log(Level.WARNING, "the file " + file + " of shared memory is left behind: " + e);
        }
    }
}
