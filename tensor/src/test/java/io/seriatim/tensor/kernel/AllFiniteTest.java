package io.seriatim.tensor.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.AllFinite;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Infinities and NaN are found wherever they are, and nothing else is taken for one. */
class AllFiniteTest {
    private static final long SEED = 20261231;

    private static boolean allFinite(Tensor... tensors) {
        return KernelRun.run(Kernels.system(), new AllFinite(), tensors)[0].toLongArray()[0] != 0;
    }

    @ParameterizedTest
    @EnumSource(value = DType.class, names = {"FLOAT32", "FLOAT64", "FLOAT16", "BFLOAT16"})
    void findsOneAmongMany(DType dtype) {
        SplittableRandom random = new SplittableRandom(SEED);
        for (int size : new int[]{1, 2, 3, 4, 5, 7, 8, 9, 1023, 1025, 2049, 4099, 8191}) {
            double[] values = random.doubles(size, -3, 3).toArray();
            assertEquals(true, allFinite(Tensor.of(dtype, values, size)), () -> size + " numbers of " + dtype);
            for (double special : new double[]{Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY}) {
                for (int at : new int[]{0, size / 2, size - 1, random.nextInt(size)}) {
                    double[] changed = values.clone();
                    changed[at] = special;
                    assertEquals(false, allFinite(Tensor.of(dtype, changed, size)),
                            () -> special + " at " + at + " of " + size);
                }
            }
        }
    }

    /** Random bits, which make numbers of all kinds. */
    @ParameterizedTest
    @EnumSource(value = DType.class, names = {"FLOAT32", "FLOAT64", "FLOAT16", "BFLOAT16"})
    void takesNothingElseForOne(DType dtype) {
        SplittableRandom random = new SplittableRandom(SEED);
        for (int round = 0; round < 3000; round++) {
            int size = 1 + random.nextInt(6);
            Tensor tensor = Tensor.of(dtype, new double[size], size);
            byte[] bytes = new byte[size * dtype.bytes()];
            random.nextBytes(bytes);
            for (int i = 0; i < bytes.length; i++) {
                // Many exponents are all ones, or nearly.
                byte bits = random.nextInt(3) == 0 ? (byte) (random.nextBoolean() ? 0x7f : 0xff) : bytes[i];
                tensor.memory().set(ValueLayout.JAVA_BYTE, tensor.offset() + i, bits);
            }
            double[] values = tensor.toDoubleArray();
            boolean expected = Arrays.stream(values).allMatch(Double::isFinite);
            assertEquals(expected, allFinite(tensor), () -> Arrays.toString(values));
        }
    }

    /** What lies between the elements of a view does not count. */
    @ParameterizedTest
    @EnumSource(value = DType.class, names = {"FLOAT32", "FLOAT64", "FLOAT16", "BFLOAT16"})
    void looksAtViews(DType dtype) {
        double[] values = new double[5 * 1201];
        values[2 * 1201 + 7] = Double.NaN;
        values[4 * 1201 + 1200] = Double.POSITIVE_INFINITY;
        Tensor x = Tensor.of(dtype, values, 5, 1201);
        assertEquals(false, allFinite(x));
        assertEquals(false, allFinite(x.transpose(1, 0)));
        assertEquals(true, allFinite(x.select(0, 1)));
        assertEquals(false, allFinite(x.select(0, 2)));
        assertEquals(true, allFinite(x.slice(1, 8, 1200)));
        assertEquals(false, allFinite(x.slice(1, 8, 1201)));
        assertEquals(false, allFinite(x.slice(1, 7, 9).transpose(1, 0)));
        assertEquals(true, allFinite(x.select(1, 3)));
    }

    @Test
    void looksAtAllInputs() {
        Tensor ones = Tensor.of(DType.FLOAT32, new double[]{1, 2, 3}, 3);
        Tensor whole = Tensor.of(DType.INT64, new double[]{-1, Long.MAX_VALUE}, 2);
        Tensor none = Tensor.of(DType.FLOAT32, new double[0], 0, 3);
        Tensor single = Tensor.of(DType.BFLOAT16, new double[]{Double.NEGATIVE_INFINITY});
        assertEquals(true, allFinite(ones, whole, none));
        assertEquals(true, allFinite(none));
        assertEquals(false, allFinite(ones, none, single));
        assertEquals(false, allFinite(single, ones));
        assertThrows(IllegalArgumentException.class, () -> allFinite());
    }
}
