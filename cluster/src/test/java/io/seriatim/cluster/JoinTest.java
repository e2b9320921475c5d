package io.seriatim.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.cluster.Ranks.Outcome;
import io.seriatim.cluster.transport.Addresses;
import io.seriatim.graph.parallel.CommunicationException;
import io.seriatim.tensor.DType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** How ranks find each other, and whom they refuse. */
class JoinTest {
    private static final Duration SHORT = Duration.ofMillis(1500);

    @TempDir
    Path folder = Path.of(".");

    private static Integer sum(Cluster cluster) {
        int[] one = {cluster.rank() + 1};
        cluster.allReduce(MemorySegment.ofArray(one), DType.INT32);
        return one[0];
    }

    private static String freeAddress() throws IOException {
        return freeAddresses(1).getFirst();
    }

    /** Different ones: all are held until the last is known. */
    private static List<String> freeAddresses(int count) throws IOException {
        if (count == 0) {
            return List.of();
        }
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            List<String> all = new ArrayList<>(freeAddresses(count - 1));
            all.add("127.0.0.1:" + socket.getLocalPort());
            return all;
        }
    }

    @Test
    void ranksMeetInAFolder() throws Exception {
        assertEquals(List.of(6, 6, 6),
                Ranks.run(3, Function.identity(), Rendezvous.folder(folder), JoinTest::sum));
    }

    @Test
    void ranksMeetAtRankZero() throws Exception {
        assertEquals(List.of(6, 6, 6),
                Ranks.run(3, Function.identity(), Rendezvous.at(freeAddress()), JoinTest::sum));
    }

    @Test
    void ranksMeetAtKnownAddresses() throws Exception {
        List<String> addresses = freeAddresses(3);
        assertEquals(List.of(6, 6, 6),
                Ranks.run(3, Function.identity(), Rendezvous.addresses(addresses), JoinTest::sum));
    }

    /** Another's outgoing connection, or an attempt that is ending, holds the address for a moment. */
    @Test
    void aRankWaitsForItsAddress() throws Exception {
        List<String> addresses = freeAddresses(2);
        ServerSocket held = new ServerSocket();
        held.bind(Addresses.parse(addresses.get(1)));
        Rendezvous known = Rendezvous.addresses(addresses);
        Rendezvous releasing = new Rendezvous() {
            @Override
            public List<String> exchange(String address, ClusterOptions options)
                    throws IOException, InterruptedException {
                if (options.rank() == 0) {
                    held.close();
                }
                return known.exchange(address, options);
            }

            @Override
            public Optional<String> fixedAddress(int rank) {
                return known.fixedAddress(rank);
            }
        };
        assertEquals(List.of(3, 3), Ranks.run(2, Function.identity(), releasing, JoinTest::sum));
    }

    /** The addresses of another machine are none to wait for. */
    @Test
    void anAddressOfAnotherMachineIsRefused() {
        Rendezvous elsewhere = Rendezvous.addresses(List.of("192.0.2.1:4711", "192.0.2.1:4712"));
        CommunicationException refused = assertThrows(CommunicationException.class,
                () -> Cluster.join(Ranks.options(0, 2), elsewhere));
        assertTrue(String.valueOf(refused.getMessage()).contains("cannot listen at"), refused::getMessage);
    }

    @Test
    void ranksOfOneMachineUseUnixSocketsAndLeaveNoFiles() throws Exception {
        assertEquals(List.of(6, 6, 6),
                Ranks.run(3, options -> options.unixSockets(folder), Ranks.gathering(3), JoinTest::sum));
        try (Stream<Path> left = Files.list(folder)) {
            assertEquals(List.of(), left.toList());
        }
    }

    /** Whether this process has mapped memory that ranks share. */
    private static boolean hasSharedMemory() throws IOException {
        return Files.readString(Path.of("/proc/self/maps")).contains("/dev/shm/seriatim-");
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void ranksThatUseUnixSocketsShareMemoryIfBothWantTo() throws Exception {
        for (int unwilling = -1; unwilling < 2; unwilling++) {
            int which = unwilling;
            List<Boolean> shared = Ranks.run(2,
                    options -> options.unixSockets(folder).sharedMemory(options.rank() != which), Ranks.gathering(2),
                    cluster -> {
                        cluster.barrier();
                        boolean hasMemory = hasSharedMemory();
                        assertEquals(3, sum(cluster));
                        return hasMemory;
                    });
            assertEquals(List.of(unwilling < 0, unwilling < 0), shared, "unwilling: " + unwilling);
            assertFalse(hasSharedMemory());
        }
    }

    @Test
    void aRankAloneNeedsNobody() throws Exception {
        assertEquals(List.of(1), Ranks.run(1, Function.identity(), Rendezvous.at("127.0.0.1:1"), JoinTest::sum));
    }

    /** Rank 1 differs from rank 0 by the change. */
    private static List<Outcome<Integer>> different(Function<ClusterOptions, ClusterOptions> change) throws Exception {
        return Ranks.outcomes(2, options -> {
            ClusterOptions limited = options.joinLimit(SHORT);
            return options.rank() == 1 ? change.apply(limited) : limited;
        }, Ranks.gathering(2), JoinTest::sum);
    }

    private static void assertRefused(List<Outcome<Integer>> outcomes, String says, String zeroSays) {
        CommunicationException one = assertInstanceOf(CommunicationException.class, outcomes.get(1).failure());
        assertTrue(String.valueOf(one.getMessage()).contains(says), one::getMessage);
        CommunicationException zero = assertInstanceOf(CommunicationException.class, outcomes.get(0).failure());
        assertEquals(1, zero.rank());
        assertTrue(String.valueOf(zero.getMessage()).contains(zeroSays), zero::getMessage);
    }

    @Test
    void anotherSecretIsRefused() throws Exception {
        assertRefused(different(options -> ClusterOptions.of(1, 2, new byte[20]).joinLimit(SHORT)),
                "does not know the secret", "connections were dropped");
    }

    @Test
    void anotherJobIsRefused() throws Exception {
        assertRefused(different(options -> options.job("another")), "belongs to another job", "of another job");
    }

    @Test
    void anEarlierGenerationIsRefused() throws Exception {
        assertRefused(different(options -> options.generation(-1)), "is of another generation", "generation -1");
    }

    @Test
    void aLaterGenerationWaitsForTheEarlierToEnd() throws Exception {
        assertRefused(different(options -> options.generation(1)), "within the time limit", "generation 1");
    }

    @Test
    void anotherNumberOfRanksIsRefused() throws Exception {
        Rendezvous gathering = Ranks.gathering(2);
        List<Outcome<Integer>> outcomes = Ranks.outcomes(2, options -> options.rank() == 1
                ? ClusterOptions.of(1, 3, Ranks.SECRET).joinLimit(SHORT)
                : options.joinLimit(SHORT), (address, options) -> {
                    List<String> found = new ArrayList<>(gathering.exchange(address, options));
                    if (options.ranks() == 3) {
                        found.add(address);
                    }
                    return found;
                }, JoinTest::sum);
        assertRefused(outcomes, "has another number of ranks", "rank 1 of 3");
    }

    @Test
    void theSameRankTwiceIsRefused() throws Exception {
        CompletableFuture<String> zero = new CompletableFuture<>();
        Rendezvous knowing = (address, options) -> {
            if (options.rank() == 0) {
                zero.complete(address);
            }
            return List.of(zero.join(), address, address);
        };
        // Of three processes, two say that they are rank 1, and none that it is rank 2.
        List<Outcome<Integer>> outcomes = Ranks.outcomes(3, options -> ClusterOptions
                .of(Math.min(options.rank(), 1), 3, Ranks.SECRET).joinLimit(SHORT), knowing, JoinTest::sum);
        List<String> messages = outcomes.stream().map(each -> String.valueOf(each.failure())).toList();
        assertEquals(1, messages.stream().filter(each -> each.contains("refuses a second connection of rank 1"))
                .count(), messages::toString);
        assertEquals(2, messages.stream().filter(each -> each.contains("rank 2 did not connect")).count(),
                messages::toString);
    }

    @Test
    void strangersKeepNobodyFromJoining() throws Exception {
        Rendezvous gathering = Ranks.gathering(3);
        List<Socket> strangers = Collections.synchronizedList(new ArrayList<>());
        Rendezvous visited = (address, options) -> {
            Random random = new Random(options.rank());
            int port = Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
            for (int size : new int[]{0, 1, 71, 72, 100, 5000}) {
                Socket stranger = new Socket(InetAddress.getLoopbackAddress(), port);
                strangers.add(stranger);
                byte[] noise = new byte[size];
                random.nextBytes(noise);
                stranger.getOutputStream().write(noise);
                if (size == 100) {
                    stranger.close();
                }
            }
            return gathering.exchange(address, options);
        };
        try {
            assertEquals(List.of(6, 6, 6), Ranks.run(3, Function.identity(), visited, JoinTest::sum));
        } finally {
            for (Socket each : strangers) {
                each.close();
            }
        }
    }

    @Test
    void aRankThatDoesNotComeIsNamed() throws Exception {
        List<Outcome<Integer>> outcomes = Ranks.outcomes(2, options -> ClusterOptions
                .of(options.rank(), 3, Ranks.SECRET).joinLimit(SHORT), Rendezvous.folder(folder), JoinTest::sum);
        for (Outcome<Integer> each : outcomes) {
            assertEquals(2, assertInstanceOf(CommunicationException.class, each.failure()).rank());
        }
    }

    /**
     * What rank 1 says of an address where somebody ends the first connections, as many as given, and then answers
     * none, so that the limit ends the last attempt.
     */
    private static String failureWhereFirstConnectionsEnd(int ended) throws Exception {
        try (ServerSocket stranger = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
            List<Socket> accepted = new ArrayList<>();
            CompletableFuture<Void> accepting = CompletableFuture.runAsync(() -> {
                try {
                    for (int i = 0; i < ended; i++) {
                        Socket socket = stranger.accept();
                        accepted.add(socket);
                        socket.shutdownOutput();
                    }
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            List<String> addresses = List.of("127.0.0.1:" + stranger.getLocalPort(), freeAddress());
            CommunicationException failure = assertThrows(CommunicationException.class,
                    () -> Cluster.join(ClusterOptions.of(1, 2, Ranks.SECRET).joinLimit(SHORT),
                            Rendezvous.addresses(addresses)));
            accepting.join();
            for (Socket each : accepted) {
                each.close();
            }
            assertEquals(0, failure.rank());
            return String.valueOf(failure.getMessage());
        }
    }

    /** An attempt that the limit cuts short says less than one that failed for a reason. */
    @Test
    void theReasonOfAnEarlierAttemptIsTold() throws Exception {
        for (int ended : new int[]{1, 3}) {
            String told = failureWhereFirstConnectionsEnd(ended);
            assertTrue(told.endsWith("within the time limit for joining: the connection was closed"), told);
        }
        String silent = failureWhereFirstConnectionsEnd(0);
        assertTrue(silent.endsWith("within the time limit for joining: no answer within the time limit"), silent);
    }

    @Test
    void anAddressThatIsNoneIsAnError() {
        assertThrows(IllegalArgumentException.class, () -> Rendezvous.at("localhost"));
        assertThrows(IllegalArgumentException.class, () -> Rendezvous.at("localhost:65536"));
        assertThrows(IllegalArgumentException.class, () -> Rendezvous.at(":80"));
        assertThrows(IllegalArgumentException.class, () -> ClusterOptions.of(2, 2, Ranks.SECRET));
        assertThrows(IllegalArgumentException.class, () -> ClusterOptions.of(0, 2, new byte[15]));
    }

    @Test
    void anInterruptEndsJoining() throws Exception {
        Rendezvous interrupting = (address, options) -> {
            Thread.currentThread().interrupt();
            return List.of(address, address);
        };
        List<Outcome<Integer>> outcomes = Ranks.outcomes(1,
                options -> ClusterOptions.of(0, 2, Ranks.SECRET), interrupting, JoinTest::sum);
        assertNull(outcomes.get(0).result());
        assertEquals(0, assertInstanceOf(CommunicationException.class, outcomes.get(0).failure()).rank());
    }
}
