package io.seriatim.benchmarks.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.benchmarks.cluster.ScaleModel.Bucket;
import io.seriatim.benchmarks.cluster.ScaleModel.Exchange;
import io.seriatim.benchmarks.cluster.ScaleModel.Step;
import java.lang.reflect.Method;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The arithmetic of the model, with a latency of 100 and 2 bytes in a nanosecond. */
class ScaleModelTest {
    private static final double EXACT = 1e-9;
    private static final double MOST_SLOWER = 1.25;

    private final ScaleModel model = new ScaleModel(100, 2);

    @Test
    void theRingSendsAPartInEachOfItsSteps() {
        // 6 messages of 1,000 bytes.
        assertEquals(6 * (100 + 500), model.exchange(Exchange.RING, 4000, 4), EXACT);
        assertEquals(4 * (100 + 500), model.exchange(Exchange.RING, 3000, 3), EXACT);
        assertEquals(0, model.exchange(Exchange.RING, 3000, 1), EXACT);
    }

    @Test
    void halvingSendsAHalfAQuarterAndSoOnAndBack() {
        assertEquals(2 * ((100 + 1000) + (100 + 500)), model.exchange(Exchange.HALVING, 4000, 4), EXACT);
        // Of 6 ranks, two give all to a neighbour and get it back.
        assertEquals(2 * ((100 + 1000) + (100 + 500)) + 2 * (100 + 2000),
                model.exchange(Exchange.HALVING, 4000, 6), EXACT);
    }

    @Test
    void doublingSendsEverythingToEachPartner() {
        assertEquals(3 * (100 + 20), model.exchange(Exchange.DOUBLING, 40, 8), EXACT);
        assertEquals(3 * (100 + 20) + 2 * (100 + 20), model.exchange(Exchange.DOUBLING, 40, 9), EXACT);
    }

    @Test
    void theWayIsThatOfTheTransport() throws ReflectiveOperationException {
        Class<?> algorithm = Class.forName("io.seriatim.cluster.collective.Algorithm");
        Method choose = algorithm.getDeclaredMethod("choose", long.class, int.class);
        choose.setAccessible(true);
        for (int ranks : new int[]{2, 3, 4, 5, 6, 7, 8, 9, 16, 48, 63, 64, 65, 1000, 1024}) {
            for (long bytes = 1; bytes < 1L << 32; bytes = bytes * 3 / 2 + 1) {
                for (long near : List.of(bytes, Long.highestOneBit(bytes), Long.highestOneBit(bytes) + 1)) {
                    assertEquals(choose.invoke(null, near, ranks).toString(), ScaleModel.chosen(near, ranks).name(),
                            near + " bytes, " + ranks + " ranks");
                }
            }
        }
    }

    /** On networks that differ hundredfold in latency and bandwidth, with messages of any size. */
    @Test
    void theWayIsNearTheFastestOfAllOnAnyNetwork() {
        for (ScaleModel network : List.of(new ScaleModel(1e6, 0.125), new ScaleModel(5e4, 1.25),
                new ScaleModel(1e4, 12.5))) {
            for (int ranks = 2; ranks <= 1024; ranks++) {
                for (long bytes = 64; bytes < 1L << 28; bytes *= 2) {
                    double chosen = network.exchange(bytes, ranks);
                    double fastest = network.fastest(bytes, ranks);
                    assertTrue(chosen <= MOST_SLOWER * fastest, network + ": " + bytes + " bytes, " + ranks
                            + " ranks take " + chosen + " ns, but the fastest way " + fastest);
                }
            }
        }
    }

    @Test
    void anExchangeWaitsForItsBucketAndForTheOneBefore() {
        Step step = new Step(List.of(new Bucket(1, 1000), new Bucket(2, 1200), new Bucket(3, 5000)), 70);
        assertEquals(5070, step.computed(), EXACT);
        // 1000 to 1400, 1400 to 2200, 5000 to 6200.
        ScaleModel.Cost cost = (bytes, ranks) -> 400.0 * bytes;
        assertEquals(6270, ScaleModel.step(step, 2, cost), EXACT);
        assertEquals(1 - 1200.0 / 2400, ScaleModel.hidden(step, 2, cost), EXACT);
        // All behind each other: 1000 to 3000, 7000, 13000.
        assertEquals(13070, ScaleModel.step(step, 2, (bytes, ranks) -> 2000.0 * bytes), EXACT);
        assertEquals(5070, ScaleModel.step(step, 2, (bytes, ranks) -> 0), EXACT);
        assertEquals(1, ScaleModel.hidden(step, 2, (bytes, ranks) -> 0), EXACT);
    }

    @Test
    void theRingPaysUpToTheNumberAtWhichItsLatencyIsMoreThanTheSecondCopy() {
        long bytes = 10_000;
        int most = model.ringPaysUpTo(bytes, 1000);
        assertTrue(model.exchange(Exchange.RING, bytes, most) <= model.fastest(bytes, most), () -> "at " + most);
        for (int ranks = most + 1; ranks <= 1000; ranks++) {
            assertTrue(model.exchange(Exchange.RING, bytes, ranks) > model.fastest(bytes, ranks), "at " + ranks);
        }
        assertTrue(most > 8 && most < 200, () -> "at " + most);
        assertEquals(1000, model.ringPaysUpTo(1L << 40, 1000), "a large sum");
    }
}
