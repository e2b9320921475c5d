package io.seriatim.tensor.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import io.seriatim.device.Place;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Scan;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Running sums of float32: sums of doubles, whichever vectors are summed at once. */
class ScansOfFloatsTest {
    private static final long SEED = 20261129;

    private static float[] expected(Scan scan, float[] x, long outer, int length, int inner) {
        float[] y = new float[x.length];
        for (int i = 0; i < outer; i++) {
            for (int k = 0; k < inner; k++) {
                double sum = 0;
                for (int j = 0; j < length; j++) {
                    int at = (i * length + (scan.reverse() ? length - 1 - j : j)) * inner + k;
                    double before = sum;
                    sum += x[at];
                    y[at] = (float) (scan.exclusive() ? before : sum);
                }
            }
        }
        return y;
    }

    private static float[] scanned(Scan scan, Tensor x, Tensor y) {
        Kernels.system().prepare(scan, Place.CPU, x.spec(), y.spec()).run(new Tensor[]{x, y}, new KernelContext(1));
        return y.toFloatArray();
    }

    @Test
    void areSumsOfDoublesToTheBit() {
        SplittableRandom random = new SplittableRandom(SEED);
        for (long[] dims : List.of(new long[]{1}, new long[]{1000}, new long[]{3, 7}, new long[]{4, 257},
                new long[]{9, 1100}, new long[]{5, 6, 4}, new long[]{2, 9, 5}, new long[]{2, 3, 1500},
                new long[]{1, 300, 1}, new long[]{2, 0, 3}, new long[]{0, 3})) {
            float[] values = new float[(int) Shape.of(dims).size()];
            for (int i = 0; i < values.length; i++) {
                values[i] = (float) random.nextDouble(-1, 1e3);
            }
            Tensor x = Tensor.of(values, dims);
            for (int axis = 0; axis < dims.length; axis++) {
                int inner = (int) Shape.of(dims).slice(axis + 1, dims.length).size();
                long outer = Shape.of(dims).slice(0, axis).size();
                for (int form = 0; form < 4; form++) {
                    Scan scan = new Scan(axis, form % 2 == 1, form > 1);
                    float[] expected = expected(scan, values, outer, (int) dims[axis], inner);
                    String text = scan + " of " + Arrays.toString(dims) + ", seed " + SEED;
                    assertArrayEquals(expected, scanned(scan, x, Tensor.allocate(DType.FLOAT32, dims)), text);
                    Tensor inPlace = Tensor.of(values, dims);
                    assertArrayEquals(expected, scanned(scan, inPlace, inPlace), text + " in place");
                    long[] wide = Arrays.copyOf(dims, dims.length + 1);
                    wide[dims.length] = 2;
                    assertArrayEquals(expected,
                            scanned(scan, x, Tensor.allocate(DType.FLOAT32, wide).select(dims.length, 1)),
                            text + " into every other element");
                    long[] padded = dims.clone();
                    padded[dims.length - 1] += 3;
                    assertArrayEquals(expected,
                            scanned(scan, x, Tensor.allocate(DType.FLOAT32, padded).slice(dims.length - 1, 1,
                                    dims[dims.length - 1] + 1)),
                            text + " into rows that are apart");
                }
            }
        }
    }
}
