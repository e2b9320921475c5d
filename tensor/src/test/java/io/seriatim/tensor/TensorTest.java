package io.seriatim.tensor;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.ValueLayout;
import java.math.BigDecimal;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class TensorTest {
    private static final long SEED = 20261121;

    @Test
    void elementsAreThoseOfThePartOnly() {
        Tensor whole = Tensor.of(new float[]{1, 2, 3, 4, 5, 6}, 3, 2);
        Tensor part = whole.slice(0, 1, 2);
        assertEquals(8, part.elements().byteSize());
        assertEquals(3, part.elements().getAtIndex(ValueLayout.JAVA_FLOAT, 0));
        part.elements().setAtIndex(ValueLayout.JAVA_FLOAT, 1, 9);
        assertEquals(9, whole.toFloatArray()[3]);
        IllegalStateException e = assertThrows(IllegalStateException.class, () -> whole.transpose(1, 0).elements());
        assertTrue(String.valueOf(e.getMessage()).contains("row-major"), e.getMessage());
    }

    @Test
    void shapesAreChecked() {
        assertEquals(Shape.of(2, 3), Shape.of(2, 3));
        assertNotEquals(Shape.of(2, 3), Shape.of(3, 2));
        assertEquals(1, Shape.SCALAR.size());
        assertEquals(0, Shape.of(1L << 40, 0, 1L << 40).size());
        assertEquals(Shape.of(4, 2, 3), Shape.of(2, 1).broadcast(Shape.of(4, 1, 3)));
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class,
                () -> Shape.of(2, 3).broadcast(Shape.of(4)));
        assertTrue(String.valueOf(e.getMessage()).contains("[2, 3]") && String.valueOf(e.getMessage()).contains("[4]"),
                e.getMessage());
        assertThrows(IllegalArgumentException.class, () -> Shape.of(-1));
        assertThrows(IllegalArgumentException.class, () -> Shape.of(1L << 32, 1L << 31));
        assertThrows(IllegalArgumentException.class, () -> Shape.of(2).dim(1));
        assertThrows(IllegalArgumentException.class, () -> TensorSpec.of(DType.FLOAT64, 1L << 61).bytes());
    }

    @Test
    void viewsLookAtTheSameMemory() {
        Tensor t = Tensor.of(new float[]{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 3, 4);
        assertArrayEquals(new float[]{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11}, t.transpose().toFloatArray());
        assertArrayEquals(new float[]{5, 6, 9, 10}, t.slice(0, 1, 3).slice(1, 1, 3).toFloatArray());
        assertArrayEquals(new float[]{2, 6, 10}, t.select(1, 2).toFloatArray());
        assertArrayEquals(new float[]{8, 9, 10, 11}, t.slice(-2, 2, 3).reshape(2, 2).toFloatArray());
        assertArrayEquals(new float[]{0, 4, 8, 0, 4, 8}, t.select(1, 0).expand(Shape.of(2, 3)).toFloatArray());
        Tensor backwards = new Tensor(t.buffer(), 44, new TensorSpec(DType.FLOAT32, Shape.of(12), Layout.strided(-1)));
        assertArrayEquals(new float[]{11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}, backwards.toFloatArray());
        assertEquals(48, backwards.access(false).bytes());
        assertEquals(0, backwards.access(false).offset());
        assertThrows(IllegalArgumentException.class, () -> t.transpose().reshape(12));
        assertThrows(IllegalArgumentException.class, () -> t.slice(1, 2, 5));
        assertThrows(IllegalArgumentException.class, () -> t.transpose(0, 0));
        assertThrows(IndexOutOfBoundsException.class, () -> t.getDouble(3, 0));
        assertThrows(IndexOutOfBoundsException.class,
                () -> new Tensor(t.buffer(), 4, TensorSpec.of(DType.FLOAT32, 12)));
    }

    @Test
    void aClosedTensorIsAnError() {
        Tensor t = Tensor.of(new float[]{1, 2}, 2);
        t.close();
        assertThrows(IllegalStateException.class, t::toFloatArray);
        assertThrows(IllegalStateException.class, t::address);
    }

    @Test
    void bfloat16RoundsToTheNearestEven() {
        SplittableRandom random = new SplittableRandom(SEED);
        for (int i = 0; i < 200_000; i++) {
            float value = Float.intBitsToFloat(random.nextInt());
            float got = BFloat16.toFloat(BFloat16.fromFloat(value));
            if (Float.isNaN(value)) {
                assertTrue(Float.isNaN(got));
            } else {
                assertEquals(nearest(value), got, "of " + value + ", seed " + SEED);
            }
        }
        for (int bits = 0; bits < 1 << 16; bits++) {
            float value = BFloat16.toFloat((short) bits);
            if (!Float.isNaN(value)) {
                assertEquals((short) bits, BFloat16.fromFloat(value));
            }
        }
    }

    /** By comparing the distances to both neighbours exactly. */
    private static float nearest(float value) {
        int low = Float.floatToRawIntBits(value) & 0xffff0000;
        int high = low + 0x10000;
        float below = Float.intBitsToFloat(low);
        float above = Float.intBitsToFloat(high);
        if (below == value || Float.isInfinite(value)) {
            return below;
        }
        // What would come after the largest number decides whether it overflows.
        BigDecimal top = Float.isInfinite(above)
                ? BigDecimal.valueOf(2).pow(128).multiply(BigDecimal.valueOf(Math.signum(value)))
                : new BigDecimal(above);
        int order = new BigDecimal(value).subtract(new BigDecimal(below)).abs()
                .compareTo(top.subtract(new BigDecimal(value)).abs());
        return order < 0 ? below : order > 0 ? above : (low >>> 16 & 1) == 0 ? below : above;
    }

    /** All pairs of types, for values that both hold. */
    @Test
    void allTypesConvert() {
        for (DType from : DType.values()) {
            for (DType to : DType.values()) {
                Tensor source = Tensor.of(from, new long[]{0, 1, 1, 0});
                assertArrayEquals(new long[]{0, 1, 1, 0}, Tensor.of(to, source.toLongArray()).toLongArray());
                assertArrayEquals(new double[]{0, 1, 1, 0}, Tensor.of(to, source.toDoubleArray()).toDoubleArray());
                assertArrayEquals(new float[]{0, 1, 1, 0}, source.toFloatArray());
            }
        }
        assertArrayEquals(new long[]{-1, 0, -128, 1},
                Tensor.of(DType.INT8, new double[]{255, 256, 128, 1.9}).toLongArray());
        assertArrayEquals(new long[]{255, 1, 3}, Tensor.of(DType.UINT8, new long[]{-1, 257, 3}).toLongArray());
        assertArrayEquals(new long[]{1, 0, 1}, Tensor.of(DType.BOOL, new double[]{0.5, 0, -3}).toLongArray());
        assertEquals(Double.POSITIVE_INFINITY, Tensor.of(DType.FLOAT16, new double[]{70000}).getDouble());
    }

    /** The loops over random strides against an odometer. */
    @Test
    void nestsVisitEveryElementInOrder() {
        SplittableRandom random = new SplittableRandom(SEED);
        for (int round = 0; round < 2000; round++) {
            int rank = random.nextInt(5);
            long[] dims = random.longs(rank, 0, 4).toArray();
            long[][] strides = {Shape.of(dims).strides(), random.longs(rank, -9, 9).toArray()};
            LoopNest nest = LoopNest.of(Shape.of(dims), strides);
            long[] index = new long[rank];
            long visited = 0;
            for (long row = 0; row < nest.rows(); row++) {
                for (long i = 0; i < nest.rowLength(); i++) {
                    for (int k = 0; k < 2; k++) {
                        long expected = 0;
                        for (int d = 0; d < rank; d++) {
                            expected += index[d] * strides[k][d];
                        }
                        assertEquals(expected, nest.offset(k, row) + i * nest.rowStride(k),
                                "round " + round + ", seed " + SEED);
                    }
                    visited++;
                    for (int d = rank - 1; d >= 0 && ++index[d] == dims[d]; d--) {
                        index[d] = 0;
                    }
                }
            }
            assertEquals(Shape.of(dims).size(), visited);
        }
    }
}
