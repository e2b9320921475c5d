package io.seriatim.cluster;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.cluster.Certificates.Identity;
import io.seriatim.cluster.Ranks.Outcome;
import io.seriatim.graph.parallel.CommunicationException;
import io.seriatim.tensor.DType;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Ranks whose connections are encrypted, and what is refused there. */
class TlsTest {
    private static final long SEED = Long.getLong("seriatim.seed", 27_443);
    private static final Duration YEAR = Duration.ofDays(365);
    private static final Duration SHORT = Duration.ofMillis(1200);
    /** For ranks that join. */
    private static final Duration LONG = Duration.ofSeconds(20);
    private static final Duration SILENCE = Duration.ofMillis(1200);
    /** Few, so that ranks that compute are heard within the limit. */
    private static final int AT_ONCE = 2;
    private static final boolean IS_FULL = Boolean.getBoolean("seriatim.full");

    @TempDir
    static Path folder = Path.of(".");

    private static Identity own;
    private static Identity stranger;
    private static Identity elsewhere;
    private static Identity expired;
    private static Path trust;
    private static Path keys;

    @BeforeAll
    static void make() throws Exception {
        Identity authority = Certificates.make("authority", null, "", YEAR);
        own = Certificates.make("ranks", authority, "127.0.0.1", YEAR);
        stranger = Certificates.make("stranger", null, "127.0.0.1", YEAR);
        elsewhere = Certificates.make("elsewhere", authority, "elsewhere.example", YEAR);
        expired = Certificates.make("expired", null, "127.0.0.1", Duration.ofDays(-1));
        keys = Certificates.keys(folder.resolve("keys.p12"), own);
        trust = Certificates.trusted(folder.resolve("trust.p12"), authority.certificate(), expired.certificate());
    }

    private static Tls tls(Identity identity) throws Exception {
        Path file = folder.resolve(identity.certificate().getSerialNumber() + ".p12");
        return Tls.stores(Certificates.keys(file, identity), trust, Certificates.PASSWORD, false);
    }

    private static Tls tls() throws IOException {
        return Tls.stores(keys, trust, Certificates.PASSWORD);
    }

    private static ClusterOptions with(ClusterOptions options) {
        try {
            return options.tls(tls());
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** The collectives, with sums that are exact. */
    private static boolean work(Cluster cluster, int most) {
        int ranks = cluster.size();
        for (int count : new int[]{0, 1, 17, 5000, most}) {
            float[] data = new float[count];
            for (int i = 0; i < count; i++) {
                data[i] = (i % 100 + 1) * (cluster.rank() + 1);
            }
            float[] halves = data.clone();
            cluster.allReduce(MemorySegment.ofArray(data), DType.FLOAT32);
            for (int i = 0; i < count; i++) {
                assertEquals((i % 100 + 1) * (ranks * (ranks + 1) / 2), data[i]);
            }
            cluster.allReduce(MemorySegment.ofArray(halves), DType.FLOAT32, DType.BFLOAT16);
            byte[] copied = new byte[count];
            new Random(count).nextBytes(copied);
            byte[] got = cluster.rank() == ranks - 1 ? copied.clone() : new byte[count];
            cluster.broadcast(MemorySegment.ofArray(got), ranks - 1);
            assertArrayEquals(copied, got);
            byte[] all = new byte[count * ranks];
            byte[] part = new byte[count];
            Arrays.fill(part, (byte) cluster.rank());
            cluster.allGather(MemorySegment.ofArray(part), MemorySegment.ofArray(all));
            for (int i = 0; i < all.length; i++) {
                assertEquals(i / count, all[i]);
            }
            cluster.barrier();
        }
        return true;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 5})
    void collectivesWorkUnderTls(int ranks) throws Exception {
        Ranks.run(ranks, TlsTest::with, Ranks.gathering(ranks), cluster -> work(cluster, 700_001));
    }

    @Test
    void ranksMeetAtRankZeroUnderTls() throws Exception {
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        Ranks.run(3, TlsTest::with, Rendezvous.at("127.0.0.1:" + port), cluster -> work(cluster, 1000));
    }

    @Test
    void ranksAreFoundByTheNameInTheirCertificate() throws Exception {
        Identity named = Certificates.make("named", null, "localhost", YEAR);
        Tls tls = Tls.stores(Certificates.keys(folder.resolve("named.p12"), named),
                Certificates.trusted(folder.resolve("named-trust.p12"), named.certificate()), Certificates.PASSWORD);
        Ranks.run(2, options -> options.host("localhost").tls(tls), Ranks.gathering(2),
                cluster -> work(cluster, 1000));
    }

    /** Long enough for several records, and for sockets that take less than they are given. */
    @Test
    void ranksThatAreSlowAndInPiecesAgree() throws Exception {
        List<Relay> relays = Collections.synchronizedList(new ArrayList<>());
        Rendezvous plain = Ranks.gathering(2);
        try {
            Ranks.run(2, TlsTest::with, (address, options) -> {
                Relay relay = new Relay(address, Relay.Kind.SLOW, 1, true, 0);
                relays.add(relay);
                return plain.exchange(relay.address(), options);
            }, cluster -> work(cluster, 200_003));
        } finally {
            for (Relay each : relays) {
                each.close();
            }
        }
    }

    @Test
    void whatTravelsCannotBeRead() throws Exception {
        String secretText = "the gradients of nobody else but us, which nobody else may read";
        byte[] text = secretText.repeat(100).getBytes(StandardCharsets.US_ASCII);
        for (boolean isEncrypted : new boolean[]{false, true}) {
            List<Relay> relays = Collections.synchronizedList(new ArrayList<>());
            Rendezvous plain = Ranks.gathering(2);
            Ranks.run(2, isEncrypted ? TlsTest::with : Function.identity(), (address, options) -> {
                Relay relay = Relay.passing(address);
                relays.add(relay);
                return plain.exchange(relay.address(), options);
            }, cluster -> {
                byte[] data = cluster.rank() == 0 ? text.clone() : new byte[text.length];
                cluster.broadcast(MemorySegment.ofArray(data), 0);
                assertArrayEquals(text, data);
                cluster.barrier();
                return true;
            });
            boolean isSeen = relays.stream().anyMatch(
                    relay -> new String(relay.seen(), StandardCharsets.ISO_8859_1).contains(secretText));
            assertEquals(!isEncrypted, isSeen);
            assertTrue(relays.stream().mapToInt(relay -> relay.seen().length).sum() > text.length);
            for (Relay each : relays) {
                each.close();
            }
        }
    }

    /** Rank 0 is connected to, rank 1 connects. */
    private static List<Outcome<Boolean>> outcomes(Function<ClusterOptions, ClusterOptions> zero,
            Function<ClusterOptions, ClusterOptions> one) throws Exception {
        return outcomes(SHORT, zero, one);
    }

    private static List<Outcome<Boolean>> outcomes(Duration limit, Function<ClusterOptions, ClusterOptions> zero,
            Function<ClusterOptions, ClusterOptions> one) throws Exception {
        long start = System.nanoTime();
        List<Outcome<Boolean>> outcomes = Ranks.outcomes(2, options -> {
            // Rank 1 tries again while rank 0 is there: at the end it says what rank 0 was, not that it has gone.
            Duration own = options.rank() == 0 ? limit : limit.multipliedBy(2).dividedBy(3);
            ClusterOptions limited = options.joinLimit(own);
            return options.rank() == 0 ? zero.apply(limited) : one.apply(limited);
        }, Ranks.gathering(2), cluster -> work(cluster, 10));
        assertTrue(System.nanoTime() - start < TimeUnit.SECONDS.toNanos(Ranks.LIMIT_SECONDS / 2));
        return outcomes;
    }

    /** Runs actions at once, in their order of results: each waits for limits most of the time. */
    private static <T> List<T> together(List<Callable<T>> actions) throws Exception {
        try (ExecutorService threads = Executors.newFixedThreadPool(AT_ONCE)) {
            List<T> results = new ArrayList<>();
            for (Future<T> each : threads.invokeAll(actions)) {
                results.add(each.get());
            }
            return results;
        }
    }

    /** The outcomes of two pairs of ranks, of which the second has the sides of the first exchanged. */
    private static List<List<Outcome<Boolean>>> bothWays(Function<ClusterOptions, ClusterOptions> one,
            Function<ClusterOptions, ClusterOptions> other) throws Exception {
        return together(List.of(() -> outcomes(one, other), () -> outcomes(other, one)));
    }

    private static void assertSays(Outcome<Boolean> outcome, String... parts) {
        if (!(outcome.failure() instanceof CommunicationException failure)) {
            throw new AssertionError("another failure, or none", outcome.failure());
        }
        for (String part : parts) {
            assertTrue(String.valueOf(failure.getMessage()).contains(part), failure::getMessage);
        }
    }

    private static Function<ClusterOptions, ClusterOptions> as(Identity identity) throws Exception {
        Tls tls = tls(identity);
        return options -> options.tls(tls);
    }

    @Test
    void aCertificateThatNobodySignedIsRefused() throws Exception {
        List<List<Outcome<Boolean>>> both = bothWays(as(stranger), TlsTest::with);
        List<Outcome<Boolean>> outcomes = both.getFirst();
        assertSays(outcomes.get(1), "the certificate of rank 0 is signed by nobody whom this rank trusts",
                "trust store");
        assertSays(outcomes.get(0), "refuses the certificate of this rank");
        outcomes = both.getLast();
        assertSays(outcomes.get(0), "the certificate of the other side is signed by nobody", "trust store");
        assertSays(outcomes.get(1), "rank 0 refuses the certificate of this rank");
    }

    @Test
    void anExpiredCertificateIsRefused() throws Exception {
        List<List<Outcome<Boolean>>> both = bothWays(as(expired), TlsTest::with);
        List<Outcome<Boolean>> outcomes = both.getFirst();
        assertSays(outcomes.get(1), "the certificate of rank 0 has expired", "renew it");
        outcomes = both.getLast();
        assertSays(outcomes.get(0), "the certificate of the other side has expired", "renew it");
        assertSays(outcomes.get(1), "rank 0 refuses the certificate of this rank");
        String message = String.valueOf(assertThrows(IOException.class, () -> Tls.stores(
                Certificates.keys(folder.resolve("expired.p12"), expired), trust, Certificates.PASSWORD))
                .getMessage());
        assertTrue(message.contains("expired.p12") && message.contains("renew it"), message);
    }

    @Test
    void aCertificateForAnotherHostIsRefused() throws Exception {
        List<Outcome<Boolean>> outcomes = outcomes(as(elsewhere), TlsTest::with);
        assertSays(outcomes.get(1), "the certificate of rank 0 is not for the host '127.0.0.1'", "subjectAltName");
        // The side that connects is known by its certificate only.
        outcomes(LONG, TlsTest::with, as(elsewhere)).forEach(each -> assertEquals(true, each.result()));
    }

    @Test
    void ranksWithAndWithoutTlsRefuseEachOther() throws Exception {
        List<List<Outcome<Boolean>>> both = bothWays(TlsTest::with, Function.identity());
        List<Outcome<Boolean>> outcomes = both.getFirst();
        assertSays(outcomes.get(0), "does not use TLS, but this rank does", "start all ranks with TLS, or none");
        assertSays(outcomes.get(1), "rank 0 uses TLS, but rank 1 does not");
        outcomes = both.getLast();
        assertSays(outcomes.get(0), "it uses TLS, but this rank does not", "start all ranks with TLS, or none");
        assertSays(outcomes.get(1), "as one does that uses no TLS");
    }

    @Test
    void theSecretIsStillNeeded() throws Exception {
        List<Outcome<Boolean>> outcomes = outcomes(TlsTest::with,
                _ -> with(ClusterOptions.of(1, 2, new byte[20]).joinLimit(SHORT)));
        assertSays(outcomes.get(1), "does not know the secret");
    }

    /** What answers at the address of rank 0. */
    enum Stranger {
        SILENT, RUBBISH, CLOSING, HTTP
    }

    @ParameterizedTest
    @EnumSource
    void whatIsNoRankIsAnErrorWithinTheLimit(Stranger kind) throws Exception {
        List<Socket> open = Collections.synchronizedList(new ArrayList<>());
        try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            Thread.ofPlatform().daemon().start(() -> {
                try {
                    while (true) {
                        Socket socket = server.accept();
                        open.add(socket);
                        switch (kind) {
                            case RUBBISH -> {
                                byte[] noise = new byte[5000];
                                new Random(SEED).nextBytes(noise);
                                socket.getOutputStream().write(noise);
                            }
                            case HTTP -> socket.getOutputStream().write("HTTP/1.1 400 Bad Request\r\n\r\n"
                                    .getBytes(StandardCharsets.US_ASCII));
                            case CLOSING -> socket.close();
                            default -> {
                            }
                        }
                    }
                } catch (IOException _) {
                    // The server was closed.
                }
            });
            String address = "127.0.0.1:" + server.getLocalPort();
            List<Outcome<Boolean>> outcomes = Ranks.outcomes(1,
                    _ -> with(ClusterOptions.of(1, 2, Ranks.SECRET).joinLimit(SHORT)),
                    (mine, _) -> List.of(address, mine), cluster -> work(cluster, 10));
            assertSays(outcomes.getFirst(), "rank 1 cannot connect to rank 0 at " + address);
        } finally {
            for (Socket each : open) {
                each.close();
            }
        }
    }

    @Test
    void strangersKeepNobodyFromJoiningUnderTls() throws Exception {
        Rendezvous gathering = Ranks.gathering(3);
        List<Socket> strangers = Collections.synchronizedList(new ArrayList<>());
        try {
            Ranks.run(3, TlsTest::with, (address, options) -> {
                Random random = new Random(options.rank());
                int port = Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
                for (int size : new int[]{0, 1, 5, 72, 5000}) {
                    Socket stranger = new Socket(InetAddress.getLoopbackAddress(), port);
                    strangers.add(stranger);
                    byte[] noise = new byte[size];
                    random.nextBytes(noise);
                    if (size > 72) {
                        // The head of a record of a handshake, which is not there.
                        noise[0] = 22;
                        noise[1] = 3;
                        noise[2] = 1;
                        noise[3] = 0x3f;
                    }
                    stranger.getOutputStream().write(noise);
                }
                return gathering.exchange(address, options);
            }, cluster -> work(cluster, 100));
        } finally {
            for (Socket each : strangers) {
                each.close();
            }
        }
    }

    /** Faults anywhere in the stream: no rank hangs or gets a wrong sum, and all of them fail. */
    @Test
    void faultsInEncryptedConnectionsAreErrorsOfAll() throws Exception {
        Random random = new Random(SEED);
        List<Relay.Kind> kinds = Arrays.stream(Relay.Kind.values())
                .filter(kind -> kind != Relay.Kind.NOTHING && kind != Relay.Kind.SLOW).toList();
        List<Callable<Boolean>> faults = new ArrayList<>();
        for (int i = 0; i < (IS_FULL ? 20 * kinds.size() : 4); i++) {
            Relay.Kind kind = kinds.get(IS_FULL ? i % kinds.size() : 2 * i);
            boolean isForward = random.nextBoolean();
            long after = 6_000L + random.nextInt(400_000);
            String name = kind + " " + i + " of seed " + SEED + (isForward ? ", forward" : ", back") + " after "
                    + after;
            faults.add(() -> plant(kind, isForward, after, name));
        }
        together(faults);
    }

    private static boolean plant(Relay.Kind kind, boolean isForward, long after, String name) throws Exception {
        // A connection with data, behind its handshakes of some 3 KiB.
        int connection = 1;
        List<Relay> relays = Collections.synchronizedList(new ArrayList<>());
        Rendezvous plain = Ranks.gathering(3);
        try {
            List<Outcome<Boolean>> outcomes = Ranks.outcomes(3, options -> with(options.silenceLimit(SILENCE)),
                    (address, options) -> {
                        if (options.rank() != 1) {
                            return plain.exchange(address, options);
                        }
                        Relay relay = new Relay(address, kind, connection, isForward, after);
                        relays.add(relay);
                        return plain.exchange(relay.address(), options);
                    }, cluster -> {
                        while (true) {
                            work(cluster, 30_000);
                        }
                    });
            assertTrue(relays.getFirst().hasPlanted(), name);
            for (Outcome<Boolean> each : outcomes) {
                if (!(each.failure() instanceof CommunicationException failure)) {
                    throw new AssertionError(name, each.failure());
                }
                assertTrue(failure.rank() == 1 || failure.rank() == 2,
                        () -> name + " → rank " + failure.rank() + ": " + failure.getMessage());
            }
        } catch (TimeoutException e) {
            throw new AssertionError(name + ": a rank hangs", e);
        } finally {
            for (Relay each : relays) {
                each.close();
            }
        }
        return true;
    }

    @Test
    void keysAndCertificatesInPemAreRead() throws Exception {
        Path certificate = Certificates.pem(folder.resolve("own.pem"), "CERTIFICATE", own.certificate().getEncoded());
        Path key = Certificates.pem(folder.resolve("own.key"), "PRIVATE KEY", own.keys().getPrivate().getEncoded());
        Path trusted = Certificates.pem(folder.resolve("trusted.pem"), "CERTIFICATE",
                stranger.certificate().getEncoded(), own.chain().getLast().getEncoded());
        Tls tls = Tls.files(certificate, key, trusted);
        // One rank with files, the other with stores.
        outcomes(LONG, options -> options.tls(tls), TlsTest::with)
                .forEach(each -> assertEquals(true, each.result(), () -> String.valueOf(each.failure())));
        Path other = Certificates.pem(folder.resolve("other.key"), "PRIVATE KEY",
                stranger.keys().getPrivate().getEncoded());
        assertRefused(() -> Tls.files(certificate, other, trusted), "other.key", "not that of");
        Path old = Certificates.pem(folder.resolve("old.key"), "RSA PRIVATE KEY", new byte[100]);
        assertRefused(() -> Tls.files(certificate, old, trusted), "old.key", "openssl pkcs8 -topk8 -nocrypt");
        Path locked = Certificates.pem(folder.resolve("locked.key"), "ENCRYPTED PRIVATE KEY", new byte[100]);
        assertRefused(() -> Tls.files(certificate, locked, trusted), "locked.key", "without a password");
        Path damaged = Certificates.pem(folder.resolve("damaged.key"), "PRIVATE KEY", new byte[100]);
        assertRefused(() -> Tls.files(certificate, damaged, trusted), "damaged.key", "none of the kinds");
        assertRefused(() -> Tls.files(key, key, trusted), "own.key", "no certificate in PEM");
        assertRefused(() -> Tls.files(certificate, certificate, trusted), "own.pem", "has 0 private keys");
        Path bad = Certificates.pem(folder.resolve("bad.pem"), "CERTIFICATE", new byte[100]);
        assertRefused(() -> Tls.files(bad, key, trusted), "bad.pem", "damaged");
        Path late = Certificates.pem(folder.resolve("late.pem"), "CERTIFICATE", expired.certificate().getEncoded());
        Path lateKey = Certificates.pem(folder.resolve("late.key"), "PRIVATE KEY",
                expired.keys().getPrivate().getEncoded());
        assertRefused(() -> Tls.files(late, lateKey, trusted), "late.pem", "renew it");
    }

    @Test
    void wrongStoresAreRefused() throws Exception {
        assertRefused(() -> Tls.stores(keys, trust, "another".toCharArray()), "keys.p12", "password");
        assertRefused(() -> Tls.stores(trust, trust, Certificates.PASSWORD), "trust.p12", "no private key");
        assertRefused(() -> Tls.stores(keys, keys, Certificates.PASSWORD), "keys.p12", "marked as trusted");
        assertRefused(() -> Tls.stores(folder.resolve("none.p12"), trust, Certificates.PASSWORD), "none.p12");
        Path rubbish = Files.write(folder.resolve("rubbish.p12"), new byte[]{1, 2, 3});
        assertRefused(() -> Tls.stores(rubbish, trust, Certificates.PASSWORD), "rubbish.p12", "PKCS12");
        Path local = folder.resolve("sockets");
        assertTrue(String.valueOf(assertThrows(IllegalArgumentException.class, () -> Cluster.join(
                Ranks.options(0, 2).tls(tls()).unixSockets(local), Ranks.gathering(2))).getMessage())
                .contains("TLS is for TCP"));
    }

    private static void assertRefused(Executable action, String... parts) {
        String message = String.valueOf(assertThrows(IOException.class, action).getMessage());
        for (String part : parts) {
            assertTrue(message.contains(part), message);
        }
    }
}
