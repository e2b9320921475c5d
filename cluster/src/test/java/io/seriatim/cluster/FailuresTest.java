package io.seriatim.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.cluster.Ranks.Outcome;
import io.seriatim.graph.parallel.CommunicationException;
import io.seriatim.tensor.DType;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Ranks that do something else than the others, leave, are interrupted or take long. */
class FailuresTest {
    /** How the ranks are connected. */
    ClusterOptions connected(ClusterOptions options) {
        return options;
    }

    private static void reduce(Cluster cluster, int count) {
        cluster.allReduce(MemorySegment.ofArray(new float[count]), DType.FLOAT32);
    }

    private static CommunicationException failure(Outcome<?> outcome) {
        if (!(outcome.failure() instanceof CommunicationException)) {
            throw new AssertionError("another failure, or none", outcome.failure());
        }
        return assertInstanceOf(CommunicationException.class, outcome.failure());
    }

    private List<Outcome<Boolean>> outcomes(int ranks, Ranks.Body<Boolean> body) throws Exception {
        return Ranks.outcomes(ranks, this::connected, Ranks.gathering(ranks), body);
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4, 7})
    void aRankThatCallsAnotherCollectiveIsNamedOnAll(int ranks) throws Exception {
        int wrong = ranks - 1;
        for (int kind = 0; kind < 4; kind++) {
            int number = kind;
            List<Outcome<Boolean>> outcomes = outcomes(ranks, cluster -> {
                reduce(cluster, 10);
                boolean isWrong = cluster.rank() == wrong;
                if (number == 0 && isWrong) {
                    cluster.barrier();
                } else if (number == 1 && isWrong) {
                    cluster.allReduce(MemorySegment.ofArray(new int[100]), DType.INT32);
                } else {
                    reduce(cluster, number == 2 && isWrong ? 99 : number == 3 && isWrong ? 1_000_000 : 100);
                }
                return true;
            });
            for (Outcome<Boolean> each : outcomes) {
                CommunicationException failure = failure(each);
                assertEquals(wrong, failure.rank(), failure::getMessage);
                assertTrue(String.valueOf(failure.getMessage()).contains("rank " + wrong + " called"),
                        failure::getMessage);
            }
        }
    }

    @Test
    void aRankThatLeavesIsNamedByThoseWhoNeedIt() throws Exception {
        List<Outcome<Boolean>> outcomes = outcomes(3, cluster -> {
            reduce(cluster, 10);
            if (cluster.rank() != 1) {
                reduce(cluster, 10);
            }
            return true;
        });
        assertEquals(true, outcomes.get(1).result());
        for (int rank : new int[]{0, 2}) {
            CommunicationException failure = failure(outcomes.get(rank));
            assertEquals(1, failure.rank(), failure::getMessage);
            assertTrue(String.valueOf(failure.getMessage()).contains("rank 1 has left"), failure::getMessage);
        }
    }

    @Test
    void aRankThatComputesForLongIsNotTakenForDead() throws Exception {
        Duration silence = Duration.ofSeconds(1);
        List<Boolean> results =
                Ranks.run(2, options -> connected(options).silenceLimit(silence), Ranks.gathering(2), cluster -> {
                    if (cluster.rank() == 1) {
                        long end = System.nanoTime() + 2 * silence.toNanos();
                        while (System.nanoTime() < end) {
                            Thread.onSpinWait();
                        }
                    }
                    reduce(cluster, 100_000);
                    return true;
                });
        assertEquals(List.of(true, true), results);
    }

    @Test
    void aRankThatIsAliveButNeverCallsIsNamedAtTheLimit() throws Exception {
        CountDownLatch isOver = new CountDownLatch(1);
        List<Outcome<Boolean>> outcomes =
                Ranks.outcomes(2, options -> connected(options).stallLimit(Duration.ofMillis(300)),
                        Ranks.gathering(2), cluster -> {
                            if (cluster.rank() == 1) {
                                isOver.await(Ranks.LIMIT_SECONDS, TimeUnit.SECONDS);
                            }
                            try {
                                // What rank 0 has sent before is there: the first call of rank 1 may succeed.
                                while (true) {
                                    cluster.barrier();
                                }
                            } finally {
                                isOver.countDown();
                            }
                        });
        for (Outcome<Boolean> each : outcomes) {
            CommunicationException failure = failure(each);
            assertEquals(1, failure.rank());
            assertTrue(String.valueOf(failure.getMessage()).contains("is alive but"), failure::getMessage);
        }
    }

    @Test
    void anInterruptFailsAllRanks() throws Exception {
        List<Outcome<Boolean>> outcomes = outcomes(3, cluster -> {
            cluster.barrier();
            if (cluster.rank() == 2) {
                Thread.currentThread().interrupt();
                assertThrows(CommunicationException.class, () -> {
                    while (true) {
                        cluster.barrier();
                    }
                });
                assertTrue(Thread.interrupted());
            }
            while (true) {
                cluster.barrier();
            }
        });
        for (Outcome<Boolean> each : outcomes) {
            CommunicationException failure = failure(each);
            assertEquals(2, failure.rank(), failure::getMessage);
            assertTrue(String.valueOf(failure.getMessage()).contains("interrupted"), failure::getMessage);
        }
    }

    @Test
    void closingDuringACollectiveEndsIt() throws Exception {
        List<Outcome<Boolean>> outcomes = outcomes(2, cluster -> {
            cluster.barrier();
            if (cluster.rank() == 0) {
                Thread.ofPlatform().daemon().start(cluster::close);
            }
            while (true) {
                cluster.barrier();
            }
        });
        for (Outcome<Boolean> each : outcomes) {
            assertEquals(0, failure(each).rank());
        }
    }

    @Test
    void aFailureIsFinalAndKeepsItsCause() throws Exception {
        outcomes(2, cluster -> {
            cluster.close();
            CommunicationException first = assertThrows(CommunicationException.class, cluster::barrier);
            CommunicationException second = assertThrows(CommunicationException.class, cluster::barrier);
            assertNotNull(first.getCause());
            assertSame(first.getCause(), second.getCause());
            assertEquals(first.getMessage(), second.getMessage());
            return true;
        }).forEach(each -> assertEquals(true, each.result()));
    }

    @Test
    void collectivesOfSeveralThreadsTakeTurns() throws Exception {
        // All calls are alike, so that their order does not matter.
        List<Boolean> results = Ranks.run(2, this::connected, Ranks.gathering(2), cluster -> {
            Thread[] threads = new Thread[4];
            boolean[] isWrong = new boolean[threads.length];
            for (int i = 0; i < threads.length; i++) {
                int number = i;
                threads[i] = Thread.ofPlatform().daemon().start(() -> {
                    for (int round = 0; round < 50; round++) {
                        int[] data = {cluster.rank() + 1};
                        cluster.allReduce(MemorySegment.ofArray(data), DType.INT32);
                        isWrong[number] |= data[0] != 3;
                    }
                });
            }
            for (Thread each : threads) {
                assertTrue(each.join(Duration.ofSeconds(Ranks.LIMIT_SECONDS)));
            }
            for (boolean each : isWrong) {
                assertFalse(each);
            }
            return true;
        });
        assertEquals(List.of(true, true), results);
    }
}
