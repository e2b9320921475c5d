package io.seriatim.tensor.array;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.device.SimOptions;
import io.seriatim.engine.Engine;
import io.seriatim.tensor.DType;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Results that are written where operands lie, and what {@code into} refuses. */
@Timeout(60)
class NDArrayOverlapTest {
    private static final float EXACT = 0;

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

    private static NDArray square(NDArrays nd) {
        return nd.of(new float[]{1, 2, 4, 8, 16, 32, 64, 128, 256}, 3, 3);
    }

    @ParameterizedTest
    @MethodSource("io.seriatim.tensor.array.NDArrayTest#engines")
    void assignsFromPartsOfItself(Supplier<Engine> kind, Place place) throws InterruptedException {
        with(kind, place, nd -> {
            NDArray row = square(nd);
            assertSame(row, row.subtractAssign(row.slice(0, 0, 1)));
            assertArrayEquals(new float[]{0, 0, 0, 7, 14, 28, 63, 126, 252}, row.toArray(), EXACT);
            NDArray column = square(nd).addAssign(0);
            column.addAssign(column.slice(1, 0, 1));
            assertArrayEquals(new float[]{2, 3, 5, 16, 24, 40, 128, 192, 320}, column.toArray(), EXACT);
            NDArray mirrored = square(nd);
            mirrored.subtractAssign(mirrored.transpose());
            assertArrayEquals(new float[]{0, -6, -60, 6, 0, -96, 60, 96, 0}, mirrored.toArray(), EXACT);
            NDArray scaled = square(nd);
            scaled.multiplyAssign(scaled.select(0, 1).select(0, 0));
            assertArrayEquals(new float[]{8, 16, 32, 64, 128, 256, 512, 1024, 2048}, scaled.toArray(), EXACT);
            NDArray divided = square(nd);
            divided.divideAssign(divided.select(0, 2));
            assertArrayEquals(new float[]{1 / 64f, 1 / 64f, 1 / 64f, 1 / 8f, 1 / 8f, 1 / 8f, 1, 1, 1},
                    divided.toArray(), EXACT);
        });
    }

    @ParameterizedTest
    @MethodSource("io.seriatim.tensor.array.NDArrayTest#engines")
    void shiftsWithinItself(Supplier<Engine> kind, Place place) throws InterruptedException {
        with(kind, place, nd -> {
            int count = 5000;
            float[] expected = new float[count];
            for (int i = 0; i < count; i++) {
                expected[i] = i == 0 ? 0 : i + (i - 1);
            }
            NDArray right = nd.range(0, 1, count, DType.FLOAT32);
            right.slice(0, 1, count).addAssign(right.slice(0, 0, count - 1));
            assertArrayEquals(expected, right.toArray(), EXACT);
            for (int i = 0; i < count; i++) {
                expected[i] = Math.min(count - 1, i + 1);
            }
            NDArray left = nd.range(0, 1, count, DType.FLOAT32);
            left.slice(0, 0, count - 1).copyFrom(left.slice(0, 1, count));
            assertArrayEquals(expected, left.toArray(), EXACT);
        });
    }

    @ParameterizedTest
    @MethodSource("io.seriatim.tensor.array.NDArrayTest#engines")
    void writesOverWhatIsReadMoreThanOnce(Supplier<Engine> kind, Place place) throws InterruptedException {
        with(kind, place, nd -> {
            NDArray product = nd.of(new float[]{1, 2, 3, 4}, 2, 2);
            product.into(product).matmul(product);
            assertArrayEquals(new float[]{7, 10, 15, 22}, product.toArray(), EXACT);
            NDArray mirrored = nd.of(new float[]{1, 2, 3, 4}, 2, 2);
            mirrored.copyFrom(mirrored.transpose());
            assertArrayEquals(new float[]{1, 3, 2, 4}, mirrored.toArray(), EXACT);
            NDArray gathered = nd.of(new float[]{1, 2, 3});
            gathered.into(gathered).gather(nd.of(new long[]{2, 0, 1}), 0);
            assertArrayEquals(new float[]{3, 1, 2}, gathered.toArray(), EXACT);
            NDArray summed = nd.of(new float[]{1, 2, 3, 4}, 2, 2);
            summed.into(summed.select(0, 0)).sum(0);
            assertArrayEquals(new float[]{4, 6, 3, 4}, summed.toArray(), EXACT);
            NDArray second = nd.of(new float[]{1, 2, 3});
            nd.of(new float[]{10, 10, 10}).into(second).subtract(second);
            assertArrayEquals(new float[]{9, 8, 7}, second.toArray(), EXACT);
        });
    }

    @Test
    void sameOperandIsNotCopied() throws InterruptedException {
        try (Devices devices = Devices.builder().cpuMemory(1 << 20).build(); Engine engine = Engine.create()) {
            NDArray large = NDArrays.on(engine, devices).ones(200_000);
            large.addAssign(large).into(large).sqrt();
            large.into(large).multiply(large);
            assertEquals(2, large.get(199_999), 1e-6);
        }
    }

    @Test
    void severalResultsHaveATargetEach() throws InterruptedException {
        try (Engine engine = Engine.create()) {
            NDArrays nd = NDArrays.on(engine);
            NDArray a = nd.of(new long[]{5, 9, 7});
            NDArray values = nd.empty(DType.INT64, 2);
            NDArray indices = nd.empty(DType.INT64, 2);
            assertEquals(List.of(values, indices), a.into(values, indices).topK(2, 0));
            assertArrayEquals(new long[]{9, 7}, values.toLongArray());
            assertArrayEquals(new long[]{1, 2}, indices.toLongArray());
            a.into(a.slice(0, 0, 2), indices).topK(2, 0);
            assertArrayEquals(new long[]{9, 7, 7}, a.toLongArray());
            refused(IllegalArgumentException.class, () -> a.into(values).topK(2, 0), "topK", "2 results", "1 array");
            refused(IllegalArgumentException.class, () -> a.into(values, values).topK(2, 0), "topK",
                    values.var().name(), "overlap");
        }
    }

    @Test
    void targetsMustBeWritten() {
        try (Engine engine = Engine.create()) {
            NDArrays nd = NDArrays.on(engine);
            NDArray a = nd.ones(2, 2);
            NDArray targeted = a.into(nd.ones(2, 2));
            List<Executable> calls = List.of(() -> targeted.slice(0, 0, 1), targeted::transpose,
                    () -> targeted.select(0, 0),
                    () -> targeted.reshape(4), () -> targeted.copyTo(Place.CPU), () -> targeted.copyFrom(a),
                    () -> a.copyFrom(targeted),
                    () -> targeted.fill(1), () -> targeted.addAssign(a), () -> targeted.divideAssign(2),
                    targeted::toArray);
            for (Executable call : calls) {
                refused(IllegalStateException.class, call, a.var().name(), "into(...)");
            }
        }
    }

    private static void refused(Class<? extends RuntimeException> type, Executable call, String... parts) {
        RuntimeException e = assertThrows(type, call);
        for (String part : parts) {
            assertTrue(String.valueOf(e.getMessage()).contains(part),
                    () -> "'" + part + "' is not in: " + e.getMessage());
        }
    }
}
