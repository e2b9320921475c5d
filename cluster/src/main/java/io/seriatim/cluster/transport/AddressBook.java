package io.seriatim.cluster.transport;

import io.seriatim.graph.parallel.CommunicationException;
import java.io.IOException;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The addresses of all ranks, collected by rank 0 over authenticated connections. An entry has a fixed size. */
public final class AddressBook {
    private static final int ENTRY = Integer.BYTES + Addresses.MOST_BYTES;

    private AddressBook() {
    }

    /**
     * The part of rank 0.
     *
     * @param self
     *            rank 0
     * @param at
     *            where to listen
     * @param own
     *            its address
     * @param handshake
     *            how long a connection has to prove itself
     * @param deadline
     *            of {@link System#nanoTime}
     * @return the addresses of all ranks
     * @throws IOException
     *             if it cannot listen, or a rank ends
     * @throws InterruptedException
     *             if the thread is interrupted
     */
    public static List<String> collect(Member self, SocketAddress at, String own, Duration handshake, long deadline)
            throws IOException, InterruptedException {
        List<TimedChannel> channels = new ArrayList<>();
        try (Listener listener = Listener.open(self, at, handshake, deadline)) {
            ByteBuffer book = buffer(self.ranks() * ENTRY);
            put(book, own);
            for (int rank = 1; rank < self.ranks(); rank++) {
                TimedChannel channel = listener.take(rank, Handshake.RENDEZVOUS, deadline);
                if (channel == null) {
                    throw new CommunicationException("rank " + rank + " did not come to " + listener.address()
                            + " within the time limit for joining" + listener.refusals(), rank, null);
                }
                channels.add(channel);
                book.put(channel.read(ENTRY, deadline));
            }
            for (TimedChannel channel : channels) {
                channel.write(book.duplicate().flip(), deadline);
            }
            return list(book.flip(), self.ranks());
        } finally {
            channels.forEach(Listener::drop);
        }
    }

    /**
     * The part of the others.
     *
     * @param self
     *            not rank 0
     * @param at
     *            where rank 0 listens
     * @param own
     *            its address
     * @param deadline
     *            of {@link System#nanoTime}
     * @return the addresses of all ranks
     * @throws IOException
     *             if rank 0 ends
     * @throws InterruptedException
     *             if the thread is interrupted
     */
    public static List<String> bring(Member self, String at, String own, long deadline)
            throws IOException, InterruptedException {
        try (TimedChannel channel = Mesh.connect(self, 0, at, Handshake.RENDEZVOUS, deadline)) {
            ByteBuffer entry = buffer(ENTRY);
            put(entry, own);
            channel.write(entry.flip(), deadline);
            return list(channel.read(self.ranks() * ENTRY, deadline), self.ranks());
        }
    }

    private static ByteBuffer buffer(int size) {
        return ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static void put(ByteBuffer book, String address) {
        byte[] bytes = address.getBytes(StandardCharsets.UTF_8);
        if (bytes.length > Addresses.MOST_BYTES) {
            throw new IllegalArgumentException("an address has at most " + Addresses.MOST_BYTES + " bytes: " + address);
        }
        int end = book.position() + ENTRY;
        book.putInt(bytes.length).put(bytes).position(end);
    }

    private static List<String> list(ByteBuffer book, int ranks) throws ProtocolException {
        List<String> addresses = new ArrayList<>();
        for (int rank = 0; rank < ranks; rank++) {
            ByteBuffer entry = book.slice(rank * ENTRY, ENTRY).order(ByteOrder.LITTLE_ENDIAN);
            int length = entry.getInt();
            if (length < 1 || length > Addresses.MOST_BYTES) {
                throw new ProtocolException("the address of rank " + rank + " has " + length + " bytes");
            }
            byte[] bytes = new byte[length];
            entry.get(bytes);
            addresses.add(new String(bytes, StandardCharsets.UTF_8));
        }
        return addresses;
    }
}
