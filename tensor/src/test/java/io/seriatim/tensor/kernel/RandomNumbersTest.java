package io.seriatim.tensor.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Dropout;
import io.seriatim.tensor.computation.DropoutGrad;
import io.seriatim.tensor.computation.Permutation;
import io.seriatim.tensor.computation.RandomNumbers;
import io.seriatim.tensor.computation.RandomNumbers.Distribution;
import io.seriatim.tensor.kernel.portable.function.Philox;
import java.util.Arrays;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RandomNumbersTest {
    private static final int MANY = 200_000;

    private static Tensor key(long seed, long draw) {
        return Tensor.of(new long[]{seed, draw}, 2);
    }

    private static double[] draw(Distribution distribution, double a, double b, DType dtype, int count, long seed) {
        Tensor out = Tensor.allocate(dtype, count);
        KernelRun.into(Kernels.portable(), new RandomNumbers(distribution, a, b, dtype), new Tensor[]{out},
                key(seed, 3));
        return out.toDoubleArray();
    }

    /** The known answers of the authors' own implementation, for all bits clear, all bits set, and digits of π. */
    @Test
    void philoxGivesTheKnownAnswers() {
        int[] block = new int[4];
        Philox.block(0, 0, 0, block, 0);
        assertArrayEquals(new int[]{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}, block);
        Philox.block(-1, -1, -1, block, 0);
        assertArrayEquals(new int[]{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}, block);
        Philox.block(0x299f31d0a4093822L, 0x85a308d3243f6a88L, 0x0370734413198a2eL, block, 0);
        assertArrayEquals(new int[]{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}, block);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 13, 1023, 1024, 1025, 2047, 4098})
    void anElementDependsOnItsNumberAlone(int count) {
        for (Distribution distribution : new Distribution[]{Distribution.UNIFORM, Distribution.NORMAL,
                Distribution.TRUNCATED_NORMAL}) {
            double[] some = draw(distribution, 0, 1, DType.FLOAT64, count, 5);
            double[] more = draw(distribution, 0, 1, DType.FLOAT64, 5000, 5);
            assertArrayEquals(Arrays.copyOf(more, count), some);
        }
    }

    @Test
    void distributionsHaveTheirMoments() {
        moments(draw(Distribution.UNIFORM, 2, 6, DType.FLOAT32, MANY, 1), 4, 16 / 12.0, 2, 6);
        moments(draw(Distribution.NORMAL, 1, 3, DType.FLOAT32, MANY, 2), 1, 9, -30, 30);
        moments(draw(Distribution.TRUNCATED_NORMAL, 1, 3, DType.FLOAT32, MANY, 3), 1, 9 * 0.7737413, -5, 7);
        moments(draw(Distribution.BERNOULLI, 0.3, 0, DType.FLOAT32, MANY, 4), 0.3, 0.21, 0, 1);
        moments(draw(Distribution.WHOLE, -3, 7, DType.INT64, MANY, 5), 1.5, 99 / 12.0, -3, 6);
    }

    private static void moments(double[] values, double mean, double variance, double least, double most) {
        double m = Arrays.stream(values).average().orElseThrow();
        double v = Arrays.stream(values).map(x -> (x - m) * (x - m)).average().orElseThrow();
        assertEquals(mean, m, 5 * Math.sqrt(variance / values.length));
        assertEquals(variance, v, 0.03 * variance);
        assertTrue(Arrays.stream(values).allMatch(x -> x >= least && x <= most));
    }

    @Test
    void permutationsHoldEveryNumberOnce() {
        long[] order = KernelRun.run(Kernels.portable(), new Permutation(1001, DType.INT64), key(9, 0))[0]
                .toLongArray();
        long[] sorted = order.clone();
        Arrays.sort(sorted);
        assertArrayEquals(LongStream.range(0, 1001).toArray(), sorted);
        assertTrue(LongStream.range(0, 1001).filter(i -> order[(int) i] == i).count() < 20);
    }

    @Test
    void dropoutScalesWhatItKeeps() {
        double[] ones = new double[MANY];
        Arrays.fill(ones, 1);
        Tensor x = Tensor.of(DType.FLOAT32, ones);
        Tensor[] out = KernelRun.run(Kernels.portable(), new Dropout(0.25f, true), x, key(1, 1));
        double[] y = out[0].toDoubleArray();
        long[] mask = out[1].toLongArray();
        for (int i = 0; i < y.length; i++) {
            assertEquals(mask[i] == 0 ? 0 : 4 / 3.0, y[i], 1e-6);
        }
        assertEquals(0.75, Arrays.stream(mask).average().orElseThrow(), 0.005);
        Tensor dx = KernelRun.run(Kernels.portable(), new DropoutGrad(new Dropout(0.25f, true)), x, out[1])[0];
        assertArrayEquals(y, dx.toDoubleArray(), 1e-6);
        assertEquals(0,
                Arrays.stream(KernelRun.run(Kernels.portable(), new Dropout(1, true), x, key(1, 1))[0].toDoubleArray())
                        .sum());
    }

    @Test
    void badParametersAreRefused() {
        assertThrows(IllegalArgumentException.class,
                () -> new RandomNumbers(Distribution.UNIFORM, 1, 0, DType.FLOAT32));
        assertThrows(IllegalArgumentException.class,
                () -> new RandomNumbers(Distribution.NORMAL, 0, -1, DType.FLOAT32));
        assertThrows(IllegalArgumentException.class,
                () -> new RandomNumbers(Distribution.BERNOULLI, 1.5, 0, DType.FLOAT32));
        assertThrows(IllegalArgumentException.class, () -> new Dropout(Float.NaN, true));
    }
}
