package io.seriatim.benchmarks.cluster;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Data on the emulated network. Only lower bounds of times are checked: a busy machine does not break them. */
class EmulatedNetworkTest {
    private static final long LIMIT_SECONDS = 60;

    /** A connection from rank 1 to rank 0, and its other end. */
    private record Pair(Socket near, Socket far) implements AutoCloseable {
        static Pair of(EmulatedNetwork network, ServerSocket server) throws IOException {
            List<String> real = List.of("127.0.0.1:" + server.getLocalPort(), "127.0.0.1:1");
            List<String> told = network.addresses(1, real);
            assertEquals(real.get(1), told.get(1), "a rank's own address");
            Socket near = new Socket(InetAddress.getLoopbackAddress(),
                    Integer.parseInt(told.getFirst().substring(told.getFirst().indexOf(':') + 1)));
            return new Pair(near, server.accept());
        }

        @Override
        public void close() throws IOException {
            near.close();
            far.close();
        }
    }

    private static ServerSocket listen() throws IOException {
        return new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    }

    private static byte[] random(int length) {
        byte[] bytes = new byte[length];
        new Random(length).nextBytes(bytes);
        return bytes;
    }

    private static CompletableFuture<Void> send(Socket to, byte[] bytes) {
        return CompletableFuture.runAsync(() -> {
            try {
                OutputStream out = to.getOutputStream();
                out.write(bytes);
                out.flush();
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }, task -> Thread.ofPlatform().daemon().start(task));
    }

    /** Returns the nanoseconds until all has arrived. */
    private static long transfer(Socket from, Socket to, byte[] bytes) throws Exception {
        long before = System.nanoTime();
        CompletableFuture<Void> sent = send(from, bytes);
        assertArrayEquals(bytes, to.getInputStream().readNBytes(bytes.length));
        long took = System.nanoTime() - before;
        sent.get(LIMIT_SECONDS, TimeUnit.SECONDS);
        return took;
    }

    @Test
    void bytesArriveAsTheyWereSentWhateverTheLimits() throws Exception {
        try (EmulatedNetwork network = new EmulatedNetwork(2);
                ServerSocket server = listen();
                Pair pair = Pair.of(network, server)) {
            for (int length : new int[]{1, 1000, 16 << 10, 300_001}) {
                network.limit(EmulatedNetwork.NONE);
                transfer(pair.near(), pair.far(), random(length));
                network.limit(new EmulatedNetwork.Limits(1e8, 1_000_000));
                transfer(pair.far(), pair.near(), random(length));
                transfer(pair.near(), pair.far(), random(length));
            }
        }
    }

    @Test
    void aMessageTakesTheDelayAndItsLengthByTheBandwidth() throws Exception {
        try (EmulatedNetwork network = new EmulatedNetwork(2);
                ServerSocket server = listen();
                Pair pair = Pair.of(network, server)) {
            network.limit(new EmulatedNetwork.Limits(1e7, 30_000_000));
            assertTrue(transfer(pair.near(), pair.far(), random(1)) >= 30_000_000);
            // 20 ms at 10 MB/s, less what an interface makes up for.
            assertTrue(transfer(pair.far(), pair.near(), random(200_000)) >= 49_000_000);
        }
    }

    @Test
    void connectionsOfARankShareItsBandwidth() throws Exception {
        try (EmulatedNetwork network = new EmulatedNetwork(2);
                ServerSocket server = listen();
                Pair one = Pair.of(network, server);
                Pair two = Pair.of(network, server)) {
            network.limit(new EmulatedNetwork.Limits(1e7, 0));
            long before = System.nanoTime();
            byte[] bytes = random(100_000);
            CompletableFuture<Void> sent = send(one.near(), bytes);
            transfer(two.near(), two.far(), bytes);
            assertArrayEquals(bytes, one.far().getInputStream().readNBytes(bytes.length));
            assertTrue(System.nanoTime() - before >= 19_000_000);
            sent.get(LIMIT_SECONDS, TimeUnit.SECONDS);
        }
    }

    @Test
    void theEndOfAConnectionArrivesBehindItsData() throws Exception {
        try (EmulatedNetwork network = new EmulatedNetwork(2);
                ServerSocket server = listen();
                Pair pair = Pair.of(network, server)) {
            network.limit(new EmulatedNetwork.Limits(1e7, 5_000_000));
            byte[] bytes = random(50_000);
            send(pair.near(), bytes).get(LIMIT_SECONDS, TimeUnit.SECONDS);
            pair.near().close();
            assertArrayEquals(bytes, pair.far().getInputStream().readAllBytes());
        }
    }

    @Test
    void aRankThatDoesNotListenEndsTheConnection() throws Exception {
        int free;
        try (ServerSocket closed = listen()) {
            free = closed.getLocalPort();
        }
        try (EmulatedNetwork network = new EmulatedNetwork(2)) {
            String proxy = network.addresses(1, List.of("127.0.0.1:" + free, "127.0.0.1:1")).getFirst();
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(),
                    Integer.parseInt(proxy.substring(proxy.indexOf(':') + 1)))) {
                assertEquals(-1, socket.getInputStream().read());
            }
        }
    }

    @Test
    void aNetworkThatSendsNothingIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> new EmulatedNetwork.Limits(0, 0));
        assertThrows(IllegalArgumentException.class, () -> new EmulatedNetwork.Limits(Double.NaN, 0));
        assertThrows(IllegalArgumentException.class, () -> new EmulatedNetwork.Limits(1, -1));
    }
}
