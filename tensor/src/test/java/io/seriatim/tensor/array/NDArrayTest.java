package io.seriatim.tensor.array;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.DeviceMemoryException;
import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.device.SimOptions;
import io.seriatim.engine.Engine;
import io.seriatim.engine.Lane;
import io.seriatim.engine.OperationFailedException;
import io.seriatim.tensor.DType;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Arrays on all engines, on the host and on a simulated accelerator under its race detector. */
@Timeout(60)
@Tag("slow")
class NDArrayTest {
    private static final float EXACT = 0;

    static Stream<Arguments> engines() {
        List<Supplier<Engine>> kinds = List.of(() -> Engine.builder().naive().build(),
                () -> Engine.builder().pooled(2).build(),
                Engine::create, () -> Engine.builder().shuffled(7).build());
        return kinds.stream()
                .flatMap(kind -> Stream.of(Place.CPU, Place.sim(0)).map(place -> Arguments.of(kind, place)));
    }

    /** What a test does with arrays at a place. */
    private interface Body {
        void run(NDArrays arrays) throws InterruptedException;
    }

    private static void with(Supplier<Engine> kind, Place place, Body body) throws InterruptedException {
        try (Devices devices = Devices.builder().sim(SimOptions.DEFAULT.withMemory(64 << 20)).build();
                Engine engine = kind.get()) {
            body.run(NDArrays.on(engine, devices).at(place));
            engine.waitForAll();
        }
    }

    @ParameterizedTest
    @MethodSource("engines")
    void computesWithBroadcasting(Supplier<Engine> kind, Place place) throws InterruptedException {
        with(kind, place, nd -> {
            NDArray a = nd.of(new float[]{1, 2, 3, 4, 5, 6}, 2, 3);
            NDArray row = nd.of(new float[]{10, 20, 30});
            NDArray column = nd.of(new float[]{100, 200}, 2, 1);
            assertArrayEquals(new float[]{11, 22, 33, 14, 25, 36}, a.add(row).toArray(), EXACT);
            assertArrayEquals(new float[]{101, 102, 103, 204, 205, 206}, a.add(column).toArray(), EXACT);
            assertArrayEquals(new float[]{2, 4, 6, 8, 10, 12}, a.multiply(2).toArray(), EXACT);
            assertArrayEquals(new float[]{6, 15}, a.sum(1).toArray(), EXACT);
            assertArrayEquals(new float[]{2.5f, 3.5f, 4.5f}, a.mean(0).toArray(), EXACT);
            assertArrayEquals(new float[]{14, 32, 32, 77}, a.matmul(a, false, true).toArray(), EXACT);
            assertArrayEquals(new long[]{2, 2}, a.argMax(1).toLongArray());
            assertArrayEquals(new float[]{1, 4, 2, 5, 3, 6}, a.transpose().copy().toArray(), EXACT);
            assertArrayEquals(new float[]{1, 4, 2, 5, 3, 6}, a.transpose().toArray(), EXACT);
            assertEquals(21, a.sum().get());
        });
    }

    @ParameterizedTest
    @MethodSource("engines")
    void slicesShareMemoryWithTheirBase(Supplier<Engine> kind, Place place) throws InterruptedException {
        with(kind, place, nd -> {
            NDArray a = nd.zeros(3, 4);
            a.slice(1, 1, 3).addAssign(1);
            a.select(0, 2).fill(7);
            a.slice(0, 0, 1).copyFrom(nd.of(new float[]{5, 6, 7, 8}, 1, 4));
            nd.ones(3, 2).into(a.slice(1, 0, 2)).add(a.slice(1, 2, 4));
            assertArrayEquals(new float[]{8, 9, 7, 8, 2, 1, 1, 0, 8, 8, 7, 7}, a.toArray(), EXACT);
            assertEquals(a.var(), a.slice(0, 0, 1).var());
        });
    }

    @ParameterizedTest
    @MethodSource("engines")
    void writesIntoGivenArrays(Supplier<Engine> kind, Place place) throws InterruptedException {
        with(kind, place, nd -> {
            NDArray a = nd.of(new float[]{1, 2});
            NDArray out = nd.empty(DType.FLOAT32, 2);
            assertEquals(out, a.into(out).multiply(a));
            a.addAssign(a);
            out.subtractAssign(a);
            assertArrayEquals(new float[]{-1, 0}, out.toArray(), EXACT);
            NDArray wrong = nd.empty(DType.FLOAT32, 3);
            IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> a.into(wrong).add(a));
            assertTrue(String.valueOf(e.getMessage()).contains("add") && String.valueOf(e.getMessage()).contains("[2]")
                    && String.valueOf(e.getMessage()).contains("[3]"), e.getMessage());
        });
    }

    @ParameterizedTest
    @MethodSource("engines")
    void drawsTheSameNumbersEverywhere(Supplier<Engine> kind, Place place) throws InterruptedException {
        float[] expected;
        try (Engine engine = Engine.builder().naive().build()) {
            Generator generator = NDArrays.on(engine).generator(42);
            generator.uniform(0, 1, 3);
            expected = generator.normal(0, 1, 2, 3).toArray();
        }
        with(kind, place, nd -> {
            Generator generator = nd.generator(42);
            generator.uniform(0, 1, 3);
            assertArrayEquals(expected, generator.normal(0, 1, 2, 3).toArray(), EXACT);
            assertEquals(2, generator.draws());
            generator.draws(1);
            assertArrayEquals(expected, generator.normal(0, 1, 2, 3).toArray(), EXACT);
        });
    }

    @ParameterizedTest
    @MethodSource("engines")
    void failsAtTheRead(Supplier<Engine> kind, Place place) throws InterruptedException {
        with(kind, place, nd -> {
            NDArray table = nd.of(new float[]{1, 2, 3});
            NDArray taken = table.gather(nd.of(new long[]{0, 3}), 0);
            NDArray later = taken.add(1).reshape(2, 1);
            OperationFailedException e = assertThrows(OperationFailedException.class, later::toArray);
            assertEquals("gather", e.operation());
            assertTrue(String.valueOf(e.getCause()).contains("index number 1"), String.valueOf(e.getCause()));
            assertArrayEquals(new float[]{2, 4, 6}, table.add(table).toArray(), EXACT);
            assertThrows(OperationFailedException.class, nd::waitForAll);
        });
    }

    @ParameterizedTest
    @MethodSource("engines")
    void copiesBetweenPlaces(Supplier<Engine> kind, Place place) throws InterruptedException {
        with(kind, place, nd -> {
            NDArray host = nd.at(Place.CPU).of(new float[]{1, 2, 3, 4}, 2, 2);
            NDArray there = host.copyTo(Place.sim(1));
            there.addAssign(there);
            NDArray back = nd.at(Place.CPU).zeros(2, 2);
            there.copyTo(back, host);
            assertArrayEquals(new float[]{2, 4, 6, 8}, back.toArray(), EXACT);
            assertArrayEquals(new float[]{2, 4, 6, 8}, host.toArray(), EXACT);
            assertArrayEquals(new float[]{2, 6, 4, 8}, there.transpose().copyTo(place).toArray(), EXACT);
            IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> host.add(there));
            assertTrue(
                    String.valueOf(e.getMessage()).contains("sim:1")
                            && String.valueOf(e.getMessage()).contains("copyTo"),
                    e.getMessage());
        });
    }

    /**
     * Reads by accelerators and writes by the host in turn, by whichever worker comes: the detector must know of all
     * that the engine orders.
     */
    @Test
    void devicesReadWhatTheHostWritesInTurn() throws InterruptedException {
        try (Devices devices = Devices.builder().build();
                Engine engine = Engine.builder().workers(Lane.CPU, 3).build()) {
            NDArrays nd = NDArrays.on(engine, devices);
            NDArray a = nd.zeros(10);
            NDArray left = a.copyTo(Place.sim(0));
            NDArray right = a.copyTo(Place.sim(1));
            for (int i = 0; i < 300; i++) {
                left.copyFrom(a);
                right.copyFrom(a);
                left.copyFrom(a);
                a.addAssign(1);
            }
            assertArrayEquals(new float[]{300, 300}, a.slice(0, 0, 2).toArray(), EXACT);
            assertEquals(299, left.get(9));
            assertEquals(299, right.get(9));
        }
    }

    @Test
    void refusesTwoEngines() throws InterruptedException {
        try (Engine one = Engine.create(); Engine two = Engine.create()) {
            NDArray a = NDArrays.on(one).ones(2);
            NDArray b = NDArrays.on(two).ones(2);
            IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> a.add(b));
            assertTrue(
                    String.valueOf(e.getMessage()).contains(a.var().name())
                            && String.valueOf(e.getMessage()).contains(b.var().name()),
                    e.getMessage());
        }
    }

    @Test
    void refusesWhatDoesNotFit() {
        try (Engine engine = Engine.create()) {
            NDArrays nd = NDArrays.on(engine);
            NDArray a = nd.ones(2, 3);
            assertMessage(() -> a.add(nd.ones(4)), "[2, 3]", "[4]", "binary");
            assertMessage(() -> a.matmul(nd.ones(2, 3)), "matmul", "3 and 2");
            assertMessage(() -> a.add(nd.of(new long[]{1, 2, 3})), "float32", "int64");
            assertMessage(() -> nd.of(new long[]{1}).exp(), "no kernel", "int64", "float32");
            assertMessage(() -> nd.zeros(1L << 40, 1L << 40), "more elements");
            assertMessage(() -> a.reshape(7), "[2, 3]", "[7]");
        }
    }

    private static void assertMessage(Executable call, String... parts) {
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class, call);
        for (String part : parts) {
            assertTrue(String.valueOf(e.getMessage()).toLowerCase(Locale.ROOT).contains(part),
                    () -> "'" + part + "' is not in: " + e.getMessage());
        }
    }

    @Test
    void freesAfterTheOperationsThatUseIt() throws InterruptedException {
        try (Devices devices = Devices.builder().build(); Engine engine = Engine.create()) {
            NDArrays nd = NDArrays.on(engine, devices);
            NDArray a = nd.of(new float[]{1, 2, 3});
            CountDownLatch running = new CountDownLatch(1);
            CountDownLatch gate = new CountDownLatch(1);
            engine.op("holds it").reads(a.var()).push(() -> {
                running.countDown();
                gate.await();
            });
            running.await();
            a.close();
            assertEquals(12, devices.host().memory().used());
            IllegalStateException e = assertThrows(IllegalStateException.class, () -> a.add(1));
            assertTrue(String.valueOf(e.getMessage()).contains(a.var().name()), e.getMessage());
            a.close();
            gate.countDown();
            nd.waitForAll();
            assertEquals(0, devices.host().memory().used());
        }
    }

    @Test
    void saysWhatHoldsTheMemory() throws InterruptedException {
        try (Devices devices = Devices.builder().cpuMemory(1 << 20).build(); Engine engine = Engine.create()) {
            NDArrays nd = NDArrays.on(engine, devices);
            NDArray large = nd.zeros(200_000);
            DeviceMemoryException e = assertThrows(DeviceMemoryException.class, () -> nd.zeros(100_000));
            assertTrue(
                    String.valueOf(e.getMessage()).contains(large.var().name())
                            && String.valueOf(e.getMessage()).contains("800,000"),
                    e.getMessage());
            assertEquals(0, nd.zeros(10_000).sum().get());
            assertEquals(0, large.sum().get());
        }
    }

    /**
     * Many more arrays than memory holds, closed or only dropped, in a process whose heap does not grow: what grows is
     * native.
     */
    @Test
    void manyArraysFitIntoLittleMemory() throws IOException, InterruptedException {
        int count = Boolean.getBoolean("seriatim.full") ? 1_000_000 : 60_000;
        String classPath = Stream.of(Engine.class, Devices.class, NDArray.class, ManyArrays.class)
                .map(NDArrayTest::placeOf)
                .collect(Collectors.joining(File.pathSeparator));
        List<String> command = List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xms96m",
                "-Xmx96m",
                "-XX:+AlwaysPreTouch", "--enable-native-access=ALL-UNNAMED",
                "-Dseriatim.cpu.memory=64m", "-Dseriatim.kernels=portable", "-cp", classPath,
                ManyArrays.class.getName(),
                String.valueOf(count));
        ForkedJvm.run(50, command);
    }

    /** The folder or jar of a class: as a resource, because a patched module hides it. */
    private static String placeOf(Class<?> type) {
        String file = type.getName().replace('.', '/') + ".class";
        String url = String.valueOf(type.getResource('/' + file));
        String place = url.substring(0, url.length() - file.length());
        return Path.of(URI.create(
                place.startsWith("jar:") ? place.substring("jar:".length(), place.length() - "!/".length()) : place))
                .toString();
    }
}
