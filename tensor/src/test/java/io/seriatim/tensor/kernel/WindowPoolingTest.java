package io.seriatim.tensor.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.device.Place;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.network.Pooling;
import io.seriatim.tensor.computation.network.Window;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Poolings along rows of images with channels first, beside those in double. */
class WindowPoolingTest {
    private static final long SEED = 20261130;

    private static Tensor random(SplittableRandom random, long... dims) {
        return Tensor.of(DType.FLOAT32, random.doubles(Shape.of(dims).size(), -2, 2).toArray(), dims);
    }

    private static Pooling pooling(Pooling.Kind kind, int[] kernel, int[] strides, int[] begin, int[] end) {
        int[] ones = new int[kernel.length];
        Arrays.fill(ones, 1);
        return new Pooling(kind, Arrays.stream(kernel).asLongStream().boxed().toList(),
                Window.of(strides, begin, end, ones));
    }

    private static void compare(Pooling pooling, Tensor x) {
        double[] expected = KernelRun.run(Kernels.portable(), pooling, x)[0].toDoubleArray();
        double[] got = KernelRun.run(Kernels.system(), pooling, x)[0].toDoubleArray();
        assertArrayEquals(expected, got, pooling.kind() == Pooling.Kind.MAX ? 0 : 1e-6,
                () -> pooling + " of " + x.spec() + ", seed " + SEED);
    }

    @ParameterizedTest
    @EnumSource(Pooling.Kind.class)
    void rowsAreThoseOfDoubles(Pooling.Kind kind) {
        SplittableRandom random = new SplittableRandom(SEED);
        for (int i = 0; i < 300; i++) {
            int kernel = random.nextInt(1, 34);
            int begin = random.nextInt(kernel);
            int end = random.nextInt(kernel);
            int length = Math.max(1, kernel - begin - end) + random.nextInt(random.nextInt(8) == 0 ? 3000 : 70);
            int stride = random.nextInt(1, kernel + 2);
            int places = (length + begin + end - kernel) / stride + 1;
            if ((places - 1) * stride >= length + begin) {
                continue;
            }
            compare(pooling(kind, new int[]{kernel}, new int[]{stride}, new int[]{begin}, new int[]{end}),
                    random(random, random.nextInt(1, 4), random.nextInt(1, 9), length));
            compare(pooling(kind, new int[]{1, kernel}, new int[]{1, stride}, new int[]{0, begin},
                    new int[]{0, end}), random(random, 2, random.nextInt(1, 5), random.nextInt(1, 6), length));
            compare(pooling(kind, new int[]{kernel, 1}, new int[]{stride, 1}, new int[]{begin, 0},
                    new int[]{end, 0}), random(random, 2, random.nextInt(1, 5), length, 1));
        }
    }

    @Test
    void maximaOfFewChannelsAreThoseOfDoubles() {
        SplittableRandom random = new SplittableRandom(SEED);
        for (int i = 0; i < 200; i++) {
            int[] kernel = {random.nextInt(1, 8), random.nextInt(1, 8)};
            int[] pads = {random.nextInt(kernel[0]), random.nextInt(kernel[1])};
            int[] strides = {random.nextInt(1, kernel[0] + 1), random.nextInt(1, kernel[1] + 1)};
            int most = random.nextInt(10) == 0 ? 200 : 30;
            compare(pooling(Pooling.Kind.MAX, kernel, strides, pads, new int[]{0, 0}),
                    random(random, random.nextInt(1, 3), random.nextInt(1, 4), kernel[0] + random.nextInt(most),
                            kernel[1] + random.nextInt(most)));
        }
    }

    @Test
    void maximaKeepNotANumberAndInfinities() {
        float[] values = {Float.NEGATIVE_INFINITY, Float.NEGATIVE_INFINITY, Float.NEGATIVE_INFINITY, 1, Float.NaN, 2, 3,
                Float.POSITIVE_INFINITY, -1, -2};
        Pooling pooling = pooling(Pooling.Kind.MAX, new int[]{3}, new int[]{1}, new int[]{1}, new int[]{1});
        assertArrayEquals(
                new float[]{Float.NEGATIVE_INFINITY, Float.NEGATIVE_INFINITY, 1, Float.NaN, Float.NaN, Float.NaN,
                        Float.POSITIVE_INFINITY, Float.POSITIVE_INFINITY, Float.POSITIVE_INFINITY, -1},
                KernelRun.run(Kernels.system(), pooling, Tensor.of(values, 1, 1, values.length))[0].toFloatArray());
    }

    /** Means of parts, as several threads compute them, have the bits of the whole. */
    @Test
    void ofPartsHaveTheBitsOfTheWhole() {
        SplittableRandom random = new SplittableRandom(SEED);
        Pooling pooling = pooling(Pooling.Kind.AVERAGE, new int[]{1, 25}, new int[]{1, 1}, new int[]{0, 12},
                new int[]{0, 12});
        Tensor x = random(random, 1, 6, 2, 901);
        float[] whole = KernelRun.run(Kernels.system(), pooling, x)[0].toFloatArray();
        int image = whole.length / 6;
        for (int i = 0; i < 6; i++) {
            Tensor part = Tensor.of(Arrays.copyOfRange(x.toFloatArray(), i * 1802, (i + 1) * 1802), 1, 1, 2, 901);
            assertArrayEquals(Arrays.copyOfRange(whole, i * image, (i + 1) * image),
                    KernelRun.run(Kernels.system(), pooling, part)[0].toFloatArray(), "channel " + i);
        }
    }

    @Test
    void areLeftToTheLibraryWhereItIsFast() {
        Tensor x = random(new SplittableRandom(SEED), 1, 16, 9, 9);
        Pooling mean = new Pooling(Pooling.Kind.AVERAGE, List.of(3L, 3L), Window.of(2, 1, 1));
        Kernel square = Kernels.system().prepare(mean, Place.CPU, x.spec(), mean.infer(x.spec())[0]);
        Pooling rows = pooling(Pooling.Kind.AVERAGE, new int[]{1, 3}, new int[]{1, 1}, new int[]{0, 1},
                new int[]{0, 1});
        Kernel flat = Kernels.system().prepare(rows, Place.CPU, x.spec(), rows.infer(x.spec())[0]);
        assertEquals("java", flat.provider());
        assertEquals(false, square.provider().equals("java"));
    }
}
