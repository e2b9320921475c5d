package io.seriatim.tensor.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.seriatim.device.Place;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.IndexRangeException;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Gather;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Elements that are taken along the last axis, as when images are resized. */
class LastAxisGatherTest {
    private static final long SEED = 20261126;

    @ParameterizedTest
    @CsvSource({"FLOAT32,7,14", "FLOAT32,1,1", "FLOAT32,300,2500", "FLOAT32,5000,1200", "FLOAT32,3000,5",
            "INT32,40,80", "FLOAT64,40,80", "BOOL,9,30"})
    void takesTheElements(DType dtype, int length, int count) {
        takesTheElements(dtype, 3, length, count);
    }

    /** Several rows share a load and a store; the last ones are fewer. */
    @ParameterizedTest
    @CsvSource({"FLOAT32,2500,1,1", "FLOAT32,1025,1,3", "FLOAT32,700,3,1", "INT32,411,5,4", "FLOAT32,90,2,16",
            "FLOAT32,7,60,511"})
    void takesElementsOfShortRows(DType dtype, int rows, int length, int count) {
        takesTheElements(dtype, rows, length, count);
    }

    private static void takesTheElements(DType dtype, int rows, int length, int count) {
        SplittableRandom random = new SplittableRandom(SEED);
        double[] values = random.ints((long) rows * length, 0, dtype == DType.BOOL ? 2 : 1 << 20).asDoubleStream()
                .toArray();
        long[] places = random.longs(count, -1, length).toArray();
        double[] taken = KernelRun.run(Kernels.system(), new Gather(1, -1), Tensor.of(dtype, values, rows, length),
                Tensor.of(places, count))[0].toDoubleArray();
        for (int row = 0; row < rows; row++) {
            for (int i = 0; i < count; i++) {
                double expected = places[i] < 0 ? 0 : values[row * length + (int) places[i]];
                assertEquals(expected, taken[row * count + i], "row " + row + ", place " + i + ", seed " + SEED);
            }
        }
    }

    /** Into the channels of a larger tensor, whose images are apart. */
    @ParameterizedTest
    @CsvSource({"2,FLOAT32", "3,FLOAT32", "1,FLOAT32", "2,INT64", "3,BOOL"})
    void writesIntoPartsOfConcatenations(int axis, DType dtype) {
        Tensor x = Tensor.of(dtype, new SplittableRandom(SEED).ints(2 * 3 * 5 * 7, 0, 2).asDoubleStream().toArray(), 2,
                3, 5, 7);
        Tensor places = Tensor.of(new long[]{2, 0, 1, 1, -1, 2}, 6);
        Gather gather = new Gather(axis, -1);
        Tensor expected = KernelRun.run(Kernels.system(), gather, x, places)[0];
        long[] dims = expected.shape().dims();
        Tensor whole = Tensor.allocate(dtype, dims[0], dims[1] + 4, dims[2], dims[3]);
        whole.memory().fill((byte) 1);
        Tensor part = whole.slice(1, 3, 3 + dims[1]);
        Kernels.system().prepare(gather, Place.CPU, x.spec(), places.spec(), part.spec())
                .run(new Tensor[]{x, places, part}, KernelContext.current());
        assertArrayEquals(expected.toDoubleArray(), part.toDoubleArray());
        assertEquals(1, whole.memory().get(ValueLayout.JAVA_BYTE, 0), "what lies before the part");
        assertEquals(1, whole.memory().get(ValueLayout.JAVA_BYTE, whole.memory().byteSize() - 1), "what lies after it");
    }

    @Test
    void keepsBitsAndChecksPlaces() {
        float odd = Float.intBitsToFloat(0x7f800001);
        Tensor x = Tensor.of(new float[]{1, odd, -0f, 2}, 2, 2);
        Tensor y = KernelRun.run(Kernels.system(), Gather.of(1), x, Tensor.of(new long[]{1, 0, 1}, 3))[0];
        int[] bits = {0x7f800001, 0x3f800000, 0x7f800001, 0x40000000, 0x80000000, 0x40000000};
        float[] taken = y.toFloatArray();
        for (int i = 0; i < bits.length; i++) {
            assertEquals(bits[i], Float.floatToRawIntBits(taken[i]), "element " + i);
        }
        assertThrows(IndexRangeException.class,
                () -> KernelRun.run(Kernels.system(), Gather.of(1), x, Tensor.of(new long[]{0, 2}, 2)));
    }
}
