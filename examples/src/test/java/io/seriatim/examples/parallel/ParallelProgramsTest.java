package io.seriatim.examples.parallel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.engine.Engine;
import io.seriatim.engine.OperationFailedException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The parallel form of each program computes the bits of its serial form, on every engine. */
class ParallelProgramsTest {

    /** Engines with 1, 2 and 4 workers, and those that run operations in another order. */
    static Stream<Engine> engines() {
        Stream<Engine> workers = Stream.of(1, 2, 4).map(Comparison::engine);
        Stream<Engine> others = Stream.of(Engine.builder().naive(), Engine.builder().shuffled(1),
                Engine.builder().shuffled(2), Engine.builder().pooled(3)).map(one -> one.checked(true).build());
        return Stream.concat(workers, others);
    }

    @ParameterizedTest
    @MethodSource("engines")
    void choleskyFactorisesTheMatrix(Engine engine) throws Exception {
        try (engine) {
            for (int tiles : new int[]{1, 2, 7}) {
                int n = 13;
                double[][][] a = Cholesky.matrix(tiles, n, tiles);
                double[][][] serial = Cholesky.serial(Cholesky.matrix(tiles, n, tiles), n);
                double[][][] parallel = Cholesky.parallel(engine, Cholesky.matrix(tiles, n, tiles), n);
                assertTrue(Arrays.deepEquals(serial, parallel), tiles + " tiles");
                double residual = Cholesky.residual(a, parallel, n);
                assertTrue(residual < 1e-13, () -> tiles + " tiles: " + residual);
                double wrong = Cholesky.residual(Cholesky.matrix(tiles, n, 99), parallel, n);
                assertTrue(wrong > 1e-4, () -> "the residual for another matrix: " + wrong);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("engines")
    void anIndefiniteMatrixIsRefused(Engine engine) {
        try (engine) {
            double[][][] a = Cholesky.matrix(4, 5, 1);
            a[2][2][0] = -1;
            OperationFailedException failure = assertThrows(OperationFailedException.class,
                    () -> Cholesky.parallel(engine, a, 5));
            assertEquals("potrf", failure.operation());
            assertInstanceOf(ArithmeticException.class, failure.getCause());
            assertTrue(failure.toString().contains("the matrix is not positive definite"), failure::toString);
        }
    }

    @ParameterizedTest
    @MethodSource("engines")
    void alignmentsAreTheSame(Engine engine) throws Exception {
        try (engine) {
            for (int length : new int[]{1, 20, 207}) {
                String a = Alignment.random(length, 1);
                String b = Alignment.mutated(a, 2);
                Alignment.Aligned serial = Alignment.serial(a, b);
                for (int block : new int[]{1, 16, 23, 1000}) {
                    if (length / block <= 20) {
                        assertEquals(serial, Alignment.parallel(engine, a, b, block), "blocks of " + block);
                    }
                }
                assertEquals(serial.score(), serial.recomputed());
                assertEquals(a, serial.first().replace("-", ""));
                assertEquals(b, serial.second().replace("-", ""));
            }
            for (String other : List.of("", "A", "ACGT")) {
                Alignment.Aligned gaps = new Alignment.Aligned(-2 * other.length(), other, "-".repeat(other.length()));
                assertEquals(gaps, Alignment.serial(other, ""));
                assertEquals(gaps, Alignment.parallel(engine, other, "", 2));
                assertEquals(new Alignment.Aligned(gaps.score(), gaps.second(), other), Alignment.serial("", other));
                assertEquals(Alignment.serial("", other), Alignment.parallel(engine, "", other, 2));
            }
            assertEquals(new Alignment.Aligned(2 * 3 - 2, "ACGT", "A-GT"),
                    Alignment.parallel(engine, "ACGT", "AGT", 2));
        }
    }

    @ParameterizedTest
    @MethodSource("engines")
    void eventsFailAlone(Engine engine) throws Exception {
        try (engine) {
            List<String> lines = Stream.concat(Stream.of("1 30", "1", "1 -40", "1 -10", "2 x"),
                    EventPipeline.events(150, 3).stream()).toList();
            List<String> serial = EventPipeline.serial(lines.iterator());
            assertEquals(lines.size(), serial.size());
            assertTrue(serial.getFirst().startsWith("event 1: account 1 has 30, signed "), serial::toString);
            assertEquals("event 2 failed: an event is 'ACCOUNT AMOUNT', not '1'", serial.get(1));
            assertEquals("event 3 failed: account 1 has 30, not 40", serial.get(2));
            assertTrue(serial.get(3).startsWith("event 4: account 1 has 20, signed "), serial::toString);
            assertEquals("event 5 failed: an event is 'ACCOUNT AMOUNT', not '2 x': For input string: \"x\"",
                    serial.get(4));
            for (int inFlight : new int[]{1, 2, 16, 1000}) {
                assertEquals(serial, EventPipeline.parallel(engine, lines.iterator(), inFlight),
                        inFlight + " in flight");
            }
        }
    }

    @ParameterizedTest
    @MethodSource("engines")
    void fewEventsAreInFlight(Engine engine) throws Exception {
        try (engine) {
            int inFlight = 3;
            Iterator<String> lines = EventPipeline.events(100, 1).iterator();
            LongSummaryStatistics pending = new LongSummaryStatistics();
            EventPipeline.parallel(engine, new Iterator<>() {
                @Override
                public boolean hasNext() {
                    return lines.hasNext();
                }

                @Override
                public String next() {
                    pending.accept(engine.snapshot().operations().stream()
                            .filter(operation -> operation.name().startsWith("report")).count());
                    return lines.next();
                }
            }, inFlight);
            assertEquals(100, pending.getCount());
            assertTrue(pending.getMax() < inFlight, pending::toString); // and the one that is being read
        }
    }

    @ParameterizedTest
    @MethodSource("engines")
    void centresAreTheSame(Engine engine) throws Exception {
        try (engine) {
            for (int shards : new int[]{1, 3, 8}) {
                List<double[]> points = KMeans.points(203, shards, 5);
                assertArrayEquals(KMeans.serial(points, 6), KMeans.parallel(engine, points, 6), shards + " shards");
            }
        }
    }

    @ParameterizedTest
    @MethodSource("engines")
    void bandsAreTheGrid(Engine engine) throws Exception {
        try (engine) {
            double[][] serial = HeatEquation.serial(17, 20);
            assertTrue(serial[15][8] > 0, "the heat has come to the other end");
            for (int bands : new int[]{1, 2, 5, 17}) {
                assertTrue(Arrays.deepEquals(serial, HeatEquation.parallel(engine, 17, bands, 20)), bands + " bands");
            }
        }
    }

    @Test
    void programsRunWithSmallSizes() throws Exception {
        Cholesky.main("3", "8", "2");
        Alignment.main("50", "10", "2");
        EventPipeline.main("40", "4", "2");
        KMeans.main("200", "4", "3", "2");
        HeatEquation.main("12", "3", "5", "2");
    }

    @Test
    void wrongArgumentsAreNamed() {
        List<String> messages = new ArrayList<>();
        for (Executable wrong : List.<Executable>of(() -> Cholesky.main("x"), () -> Alignment.main("10", "0"),
                () -> EventPipeline.main("10", "4", "1", "7"), () -> KMeans.main("160", "11"),
                () -> HeatEquation.main("10", "11"))) {
            messages.add(assertThrows(IllegalArgumentException.class, wrong).getMessage());
        }
        assertEquals(List.of("TILES is a whole number, not 'x'; usage: Cholesky [TILES [SIZE [WORKERS]]]",
                "BLOCK is from 1 to 10000, not 0; usage: Alignment [LENGTH [BLOCK [WORKERS]]]",
                "'7' is one argument too many; usage: EventPipeline [EVENTS [IN_FLIGHT [WORKERS]]]",
                "SHARDS is from 1 to 10, not 11; usage: KMeans [POINTS [SHARDS [ITERATIONS [WORKERS]]]]",
                "BANDS is from 1 to 10, not 11; usage: HeatEquation [SIZE [BANDS [STEPS [WORKERS]]]]"), messages);
    }

    @Test
    void aWrongResultIsAnError() {
        IllegalStateException failure = assertThrows(IllegalStateException.class,
                () -> Comparison.run("Sum", 1, () -> 1, engine -> 2, Integer::equals));
        assertEquals("Sum: the serial and the parallel result differ", failure.getMessage());
    }
}
