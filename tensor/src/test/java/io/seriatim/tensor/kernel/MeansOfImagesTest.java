package io.seriatim.tensor.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.device.Devices;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Reduction;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Means and sums over the places of images with their channels last: global average pools of convolution networks. */
class MeansOfImagesTest {
    private static final long SEED = 20261126;

    private static Tensor channelsLast(DType dtype, Tensor x) {
        long[] dims = x.shape().dims();
        long[] strides = {dims[1] * dims[2] * dims[3], 1, dims[1] * dims[3], dims[1]};
        Tensor last = Tensor.allocate(Devices.system().host(),
                new TensorSpec(dtype, x.shape(), Layout.strided(strides)));
        KernelRun.into(Kernels.portable(), new Copy(dtype), new Tensor[]{last}, x);
        return last;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 7, 16, 64, 127, 128, 129, 250, 1030})
    void areThoseOfDoubles(int channels) {
        SplittableRandom random = new SplittableRandom(SEED + channels);
        for (DType dtype : List.of(DType.FLOAT32, DType.BFLOAT16)) {
            for (long[] places : new long[][]{{1, 1}, {1, 7}, {3, 5}, {14, 14}, {1, 300}}) {
                long[] dims = {2, channels, places[0], places[1]};
                Tensor x = Tensor.of(dtype, random.doubles(Shape.of(dims).size(), -1, 2).toArray(), dims);
                double[] values = x.toDoubleArray();
                for (Reduction.Function function : List.of(Reduction.Function.MEAN, Reduction.Function.SUM)) {
                    Tensor y = KernelRun.run(Kernels.portable(), new Reduction(function, List.of(2, 3), false),
                            channelsLast(dtype, x))[0];
                    int area = (int) (places[0] * places[1]);
                    double[] means = new double[2 * channels];
                    for (int i = 0; i < means.length; i++) {
                        double sum = Arrays.stream(values, i * area, (i + 1) * area).sum();
                        means[i] = function == Reduction.Function.MEAN ? sum / area : sum;
                    }
                    Tensor expected = Tensor.of(dtype, means, 2, channels);
                    double[] got = y.toDoubleArray();
                    for (int i = 0; i < got.length; i++) {
                        assertEquals(expected.toDoubleArray()[i], got[i], Math.abs(means[i]) * 0x1p-7 + 1e-9,
                                function + " " + i + " of " + dtype + Arrays.toString(dims) + ", seed " + SEED);
                        if (dtype == DType.FLOAT32) {
                            assertEquals(means[i], got[i], Math.ulp((float) means[i]),
                                    function + " " + i + " of " + Arrays.toString(dims) + ", seed " + SEED);
                        }
                    }
                }
            }
        }
    }

    /** Parts of the channels, as several threads compute them, have the bits of the whole. */
    @ParameterizedTest
    @ValueSource(ints = {2, 6, 64, 250, 260, 1030})
    void ofPartsHaveTheBitsOfTheWhole(int channels) {
        long[] dims = {1, channels, 13, 9};
        Tensor x = channelsLast(DType.FLOAT32, Tensor.of(DType.FLOAT32,
                new SplittableRandom(SEED).doubles(Shape.of(dims).size(), -1e3, 1e3).toArray(), dims));
        Reduction mean = new Reduction(Reduction.Function.MEAN, List.of(2, 3), true);
        float[] whole = KernelRun.run(Kernels.portable(), mean, x)[0].toFloatArray();
        TensorSpec half = new TensorSpec(DType.FLOAT32, Shape.of(1, channels / 2, 13, 9), x.spec().layout());
        for (int part = 0; part < 2; part++) {
            int first = part * (channels / 2);
            Tensor view = new Tensor(x.buffer(), x.offset() + (long) first * Float.BYTES, half);
            assertArrayEquals(Arrays.copyOfRange(whole, first, first + channels / 2),
                    KernelRun.run(Kernels.portable(), mean, view)[0].toFloatArray(), "part " + part);
        }
    }
}
