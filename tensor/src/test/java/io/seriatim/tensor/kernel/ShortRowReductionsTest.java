package io.seriatim.tensor.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.device.Place;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Reduction;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Reductions of many rows of few elements: plain Java loads several of them at once. */
final class ShortRowReductionsTest {
    private static float[] reduced(Kernels kernels, Reduction reduction, Tensor x, Tensor y) {
        kernels.prepare(reduction, Place.CPU, x.spec(), y.spec()).run(new Tensor[]{x, y}, new KernelContext(1));
        return y.toFloatArray();
    }

    private static double expected(Reduction.Function function, float[] x, int from, int length) {
        double sum = 0;
        float most = Float.NEGATIVE_INFINITY;
        float least = Float.POSITIVE_INFINITY;
        for (int i = from; i < from + length; i++) {
            sum += x[i];
            most = Math.max(most, x[i]);
            least = Math.min(least, x[i]);
        }
        return switch (function) {
            case SUM -> sum;
            case MEAN -> sum / length;
            case MAX -> most;
            case MIN -> least;
            default -> throw new AssertionError(function);
        };
    }

    @ParameterizedTest
    @EnumSource(value = Reduction.Function.class, names = {"SUM", "MEAN", "MAX", "MIN"})
    void rowsOfAllLengths(Reduction.Function function) {
        Random random = new Random(1);
        for (int[] size : new int[][]{{1, 1}, {7, 1}, {1025, 2}, {3, 3}, {100, 4}, {13, 5}, {90, 9}, {784, 48},
                {70, 100}, {17, 127}, {33, 128}, {15, 129}, {9, 256},
                {5, 257}, {3, 512}, {4, 513}, {2, 1024}, {3, 1500}}) {
            float[] values = new float[size[0] * size[1]];
            for (int i = 0; i < values.length; i++) {
                values[i] = (float) random.nextGaussian();
            }
            values[values.length / 2] = Float.NaN;
            values[0] = Float.NEGATIVE_INFINITY;
            Tensor x = Tensor.of(values, size[0], size[1]);
            for (Kernels kernels : List.of(Kernels.portable(), Kernels.system())) {
                float[] y = reduced(kernels, new Reduction(function, List.of(1), false), x,
                        Tensor.allocate(DType.FLOAT32, size[0]));
                for (int row = 0; row < size[0]; row++) {
                    assertEquals(expected(function, values, row * size[1], size[1]), y[row], 1e-4,
                            function + " of row " + row + " of " + size[0] + " by " + size[1]);
                }
            }
        }
    }

    /** Results and rows of other strides, and of half the precision. */
    @ParameterizedTest
    @CsvSource({"SUM", "MEAN", "MAX", "MIN"})
    void viewsGiveTheSameBits(Reduction.Function function) {
        float[] values = new float[60 * 24];
        for (int i = 0; i < values.length; i++) {
            values[i] = (i * 37) % 64 - 20;
        }
        Reduction reduction = new Reduction(function, List.of(1), false);
        Tensor x = Tensor.of(values, 60, 24);
        float[] dense = reduced(Kernels.portable(), reduction, x, Tensor.allocate(DType.FLOAT32, 60));
        float[] strided = reduced(Kernels.portable(), reduction, x, Tensor.allocate(DType.FLOAT32, 60, 2).select(1, 1));
        assertArrayEquals(dense, strided);
        double[] doubles = new double[values.length];
        for (int i = 0; i < values.length; i++) {
            doubles[i] = values[i];
        }
        Tensor halves = Tensor.of(DType.BFLOAT16, doubles, 60, 24);
        double[] half = new double[60];
        Tensor y = Tensor.allocate(DType.BFLOAT16, 60);
        Kernels.portable().prepare(reduction, Place.CPU, halves.spec(), y.spec()).run(new Tensor[]{halves, y},
                new KernelContext(1));
        System.arraycopy(y.toDoubleArray(), 0, half, 0, 60);
        for (int i = 0; i < 60; i++) {
            assertEquals(dense[i], half[i], Math.abs(dense[i]) / 128, function.name());
        }
    }
}
