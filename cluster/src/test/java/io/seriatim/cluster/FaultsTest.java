package io.seriatim.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.parallel.CommunicationException;
import io.seriatim.tensor.DType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/**
 * Random faults on the connections of three ranks that run one collective after another: no rank hangs, none gets a
 * wrong result, and each of them fails with an error that names one end of the broken connection.
 */
class FaultsTest {
    private static final long SEED = Long.getLong("seriatim.seed", 270_027);
    private static final int FAULTS = Boolean.getBoolean("seriatim.full") ? 400 : 32;
    private static final int RANKS = 3;
    /** Long enough for threads of a busy machine, and short enough for many faults. */
    private static final Duration SILENCE = Duration.ofMillis(1200);
    private static final Duration LONG = Duration.ofSeconds(20);
    private static final int BENIGN_ROUNDS = 3;

    private static Fault random(Random random, int number) {
        Fault.Kind[] kinds = Fault.Kind.values();
        Fault.Kind kind = kinds[number % kinds.length];
        int from = random.nextInt(RANKS);
        int to = (from + 1 + random.nextInt(RANKS - 1)) % RANKS;
        boolean isControl = switch (kind) {
            // A heartbeat that comes twice, never or with another number is as good as the next one.
            case DUPLICATE, OMIT, SEQUENCE, FLIP, SLOW -> false;
            default -> random.nextInt(4) == 0;
        };
        return new Fault(kind, isControl, from, to, random.nextInt(isControl ? 2 : 24) + 1, random.nextDouble());
    }

    @Test
    void faultsAreErrorsThatNameOneEnd() throws Exception {
        Random random = new Random(SEED);
        for (int i = 0; i < FAULTS; i++) {
            Fault fault = random(random, i);
            check(fault, "fault " + i + " of seed " + SEED + ": " + fault);
        }
    }

    private static void check(Fault fault, String name) throws Exception {
        List<FaultyProxy> proxies = Collections.synchronizedList(new ArrayList<>());
        Rendezvous plain = Ranks.gathering(RANKS);
        Rendezvous behindProxies = (address, options) -> {
            FaultyProxy proxy = new FaultyProxy(options.rank(), address, fault);
            proxies.add(proxy);
            return plain.exchange(proxy.address(), options);
        };
        boolean isBenign = fault.kind() == Fault.Kind.SLOW;
        AtomicInteger joined = new AtomicInteger();
        try {
            List<Ranks.Outcome<Integer>> outcomes = Ranks.outcomes(RANKS,
                    options -> options.silenceLimit(isBenign ? LONG : SILENCE), behindProxies, cluster -> {
                        joined.incrementAndGet();
                        int round = 0;
                        while (!isBenign || round < BENIGN_ROUNDS) {
                            round(cluster, round++);
                        }
                        return round;
                    });
            assertEquals(RANKS, joined.get(), name);
            for (Ranks.Outcome<Integer> each : outcomes) {
                if (isBenign) {
                    assertNull(each.failure(), name);
                } else {
                    assertNotNull(each.failure(), name);
                    if (!(each.failure() instanceof CommunicationException)) {
                        throw new AssertionError(name, each.failure());
                    }
                    CommunicationException failure = assertInstanceOf(CommunicationException.class, each.failure());
                    assertTrue(failure.rank() == fault.from() || failure.rank() == fault.to(),
                            () -> name + " → rank " + failure.rank() + ": " + failure.getMessage());
                }
            }
        } catch (TimeoutException e) {
            throw new AssertionError(name + ": a rank hangs", e);
        } finally {
            proxies.forEach(proxy -> {
                try {
                    proxy.close();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }
    }

    /** One of each collective. The sums are exact in any order. */
    private static void round(Cluster cluster, int round) {
        for (int count : new int[]{1, 1000, 30_011}) {
            float[] data = new float[count];
            for (int i = 0; i < count; i++) {
                data[i] = value(cluster.rank(), i, round);
            }
            cluster.allReduce(MemorySegment.ofArray(data), DType.FLOAT32);
            for (int i = 0; i < count; i++) {
                assertEquals(sum(i, round), data[i], "a wrong sum");
            }
        }
        float[] halves = new float[9001];
        for (int i = 0; i < halves.length; i++) {
            halves[i] = (cluster.rank() + 1) * 8 + i % 8;
        }
        cluster.allReduce(MemorySegment.ofArray(halves), DType.FLOAT32, DType.BFLOAT16);
        for (int i = 0; i < halves.length; i++) {
            assertEquals(RANKS * (RANKS + 1) / 2 * 8 + RANKS * (i % 8), halves[i], "a wrong sum");
        }
        int[] data = new int[RANKS * 500];
        Arrays.setAll(data, i -> (int) value(cluster.rank(), i, round));
        int[] part = new int[500];
        cluster.reduceScatter(MemorySegment.ofArray(data), MemorySegment.ofArray(part), DType.INT32);
        int[] all = new int[RANKS * 500];
        cluster.allGather(MemorySegment.ofArray(part), MemorySegment.ofArray(all));
        for (int i = 0; i < all.length; i++) {
            assertEquals((int) sum(i, round), all[i], "a wrong sum");
        }
        cluster.barrier();
        int root = round % RANKS;
        Arrays.setAll(all, i -> cluster.rank() == root ? i * 7 + round : 0);
        cluster.broadcast(MemorySegment.ofArray(all), root);
        for (int i = 0; i < all.length; i++) {
            assertEquals(i * 7 + round, all[i], "a wrong copy");
        }
    }

    private static float value(int rank, int i, int round) {
        return (rank + 1) * 1000 + i % 997 + round % 100;
    }

    private static float sum(int i, int round) {
        float sum = 0;
        for (int rank = 0; rank < RANKS; rank++) {
            sum += value(rank, i, round);
        }
        return sum;
    }
}
