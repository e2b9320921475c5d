package io.seriatim.cluster.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.EOFException;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Both ends of a connection agree on memory, or on none; what the other end says is checked. */
@EnabledOnOs(OS.LINUX)
class SharedMemoryTest {
    private static final Path SHARED = Path.of("/dev/shm");
    private static final int NAME_AT = 8;
    private static final int NAME = 16;
    private static final int OFFER = 40;

    @TempDir
    Path folder = Path.of(".");

    private TimedChannel acceptor = none();
    private TimedChannel connector = none();
    private final long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);

    private static TimedChannel none() {
        try {
            return new TimedChannel(SocketChannel.open());
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    @BeforeEach
    void connect() throws IOException {
        connector.close();
        acceptor.close();
        UnixDomainSocketAddress address = UnixDomainSocketAddress.of(folder.resolve("s"));
        try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            server.bind(address);
            connector = TimedChannel.connect(address, deadline);
            acceptor = new TimedChannel(server.accept());
        }
    }

    @AfterEach
    void disconnect() throws IOException {
        connector.close();
        acceptor.close();
    }

    private static ByteBuffer[] bytes(String text) {
        ByteBuffer buffer = ByteBuffer.allocateDirect(text.length());
        text.chars().forEach(each -> buffer.put((byte) each));
        return new ByteBuffer[]{buffer.flip()};
    }

    private static String text(PeerChannel channel, int length) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocateDirect(length);
        channel.read(new ByteBuffer[]{buffer}, 0, 1);
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < buffer.position(); i++) {
            text.append((char) buffer.get(i));
        }
        return text.toString();
    }

    /** The file that an offer names. */
    private static Path file(ByteBuffer offer) {
        byte[] name = new byte[NAME];
        offer.get(NAME_AT, name);
        return SHARED.resolve("seriatim-" + HexFormat.of().formatHex(name));
    }

    @Test
    void bytesGoBothWaysAndTheFileIsGone() throws IOException {
        SharedMemory offered = Objects.requireNonNull(SharedMemory.offer(acceptor, true, deadline));
        SharedMemory taken = Objects.requireNonNull(SharedMemory.take(connector, true, deadline));
        assertTrue(offered.isTaken(acceptor, deadline));
        PeerChannel one = offered.over(acceptor.release(), true, 1);
        PeerChannel other = taken.over(connector.release(), false, 0);

        assertEquals(5, one.write(bytes("there"), 0, 1));
        assertEquals(4, other.write(bytes("back"), 0, 1));
        assertEquals("there", text(other, 9));
        assertEquals("back", text(one, 9));
        assertEquals("", text(one, 9));

        // What was written before the end is still read.
        other.write(bytes("last"), 0, 1);
        other.close();
        one.woken();
        assertEquals("last", text(one, 9));
        assertEquals(-1, one.read(new ByteBuffer[]{ByteBuffer.allocateDirect(1)}, 0, 1));
        assertThrows(EOFException.class, () -> one.write(bytes("more"), 0, 1));
        one.close();
    }

    @Test
    void whoWantsNoneGetsNone() throws IOException {
        assertNull(SharedMemory.offer(acceptor, false, deadline));
        assertNull(SharedMemory.take(connector, true, deadline));

        SharedMemory offered = Objects.requireNonNull(SharedMemory.offer(acceptor, true, deadline));
        assertNull(SharedMemory.take(connector, false, deadline));
        assertFalse(offered.isTaken(acceptor, deadline));
    }

    /** What became of the file between the offer and the answer. */
    enum Change {
        MISSING, SHORT, OTHER_CONTENT, LINK
    }

    @ParameterizedTest
    @EnumSource
    void anotherFileIsNotTaken(Change change) throws IOException {
        SharedMemory offered = Objects.requireNonNull(SharedMemory.offer(acceptor, true, deadline));
        ByteBuffer offer = connector.read(OFFER, deadline);
        Path file = file(offer);
        byte[] whole = Files.readAllBytes(file);
        switch (change) {
            case MISSING -> Files.delete(file);
            case SHORT -> Files.write(file, new byte[OFFER]);
            case OTHER_CONTENT -> {
                whole[0]++;
                Files.write(file, whole);
            }
            case LINK -> {
                Path target = folder.resolve("target");
                Files.move(file, target);
                Files.createSymbolicLink(file, target);
            }
        }
        acceptor.write(offer.rewind(), deadline);
        assertNull(SharedMemory.take(connector, true, deadline));
        assertFalse(offered.isTaken(acceptor, deadline));
        assertFalse(Files.exists(file, LinkOption.NOFOLLOW_LINKS));
    }

    @Test
    void theFileOfALostConnectionIsDeleted() throws IOException {
        SharedMemory offered = Objects.requireNonNull(SharedMemory.offer(acceptor, true, deadline));
        Path file = file(connector.read(OFFER, deadline));
        assertTrue(Files.exists(file));
        connector.close();
        assertThrows(IOException.class, () -> offered.isTaken(acceptor, deadline));
        assertFalse(Files.exists(file));
    }

    @Test
    void bytesThatAreNoOfferAreAnError() throws IOException {
        acceptor.write(ByteBuffer.allocate(OFFER), deadline);
        assertThrows(IOException.class, () -> SharedMemory.take(connector, true, deadline));
    }
}
