package io.seriatim.tensor.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.network.BilinearSamples;
import io.seriatim.tensor.computation.network.RoiAlign;
import io.seriatim.tensor.computation.network.RoiAlignGrad;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Regions and samples of images by hand. */
class RegionsTest {
    private static final Tensor ROWS = Tensor.of(new double[]{0, 0, 10, 10, 20, 20}, 1, 1, 3, 2);

    private static double[] aligned(RoiAlign align, double... region) {
        return KernelRun.run(Kernels.portable(), align, ROWS, Tensor.of(region, 1, 4), Tensor.of(new long[]{0}, 1))[0]
                .toDoubleArray();
    }

    private static double[] sampled(double row, double column) {
        return KernelRun.run(Kernels.portable(), new BilinearSamples(), ROWS,
                Tensor.of(new double[]{row, column}, 1, 2, 1), null)[0].toDoubleArray();
    }

    @Test
    void meansOfSamples() {
        assertArrayEquals(new double[]{5, 15}, aligned(new RoiAlign(2, 1, 1, 1, false), 0, 0, 1, 2), 1e-12);
        assertArrayEquals(new double[]{0, 10}, aligned(new RoiAlign(2, 1, 1, 1, true), 0, 0, 1, 2), 1e-12);
        assertArrayEquals(new double[]{10}, aligned(new RoiAlign(1, 1, 0.5f, 2, false), 0, 0, 4, 4), 1e-12);
    }

    @Test
    void samplesFarOutsideCountAsZeros() {
        assertArrayEquals(new double[]{20, 0}, aligned(new RoiAlign(2, 1, 1, 1, false), 0, 2, 1, 6), 1e-12);
        assertArrayEquals(new double[]{0}, aligned(new RoiAlign(1, 1, 1, 2, false), -9, -9, -4, -4));
    }

    /** Most of the 10¹² rows of the region's samples are outside; those inside are a tiny part of the mean. */
    @Test
    void hugeRegionsAreSampledWhereTheImageIs() {
        double mean = aligned(new RoiAlign(1, 1, 1, 0, false), 0, -1e12, 1, 1e12)[0];
        assertTrue(mean > 0 && mean < 1e-9, () -> "" + mean);
    }

    @Test
    void aMeanOfNoSamplesIsNotANumber() {
        assertArrayEquals(new double[]{Double.NaN}, aligned(new RoiAlign(1, 1, 1, 0, true), 1, 1, 1, 2));
        assertArrayEquals(new double[]{Double.NaN}, aligned(new RoiAlign(1, 1, 1, 0, false), 0, Double.NaN, 1, 2));
        assertArrayEquals(new double[]{Double.NaN},
                aligned(new RoiAlign(1, 1, 1, 1, false), 0, 0, Double.POSITIVE_INFINITY, 2));
    }

    @Test
    void regionsOfImagesThatAreNotThereAreRefused() {
        Tensor region = Tensor.of(new double[]{0, 0, 1, 1}, 1, 4);
        for (long image : new long[]{-1, 1}) {
            Exception e = assertThrows(IllegalArgumentException.class, () -> KernelRun.run(Kernels.portable(),
                    new RoiAlign(1, 1, 1, 1, false), ROWS, region, Tensor.of(new long[]{image}, 1)));
            assertEquals("roi_align: the image of region 0 must be from 0 to 0, but is " + image, e.getMessage());
        }
    }

    @Test
    void operandsThatDoNotFitAreRefused() {
        TensorSpec x = TensorSpec.of(DType.FLOAT32, 2, 3, 4, 5);
        TensorSpec images = TensorSpec.of(DType.INT64, 6);
        RoiAlign align = new RoiAlign(2, 2, 1, 0, false);
        for (TensorSpec[] wrong : new TensorSpec[][]{{x, TensorSpec.of(DType.FLOAT32, 6, 5), images},
                {x, TensorSpec.of(DType.FLOAT64, 6, 4), images}, {x, TensorSpec.of(DType.FLOAT32, 7, 4), images},
                {TensorSpec.of(DType.FLOAT32, 2, 3, 0, 5), TensorSpec.of(DType.FLOAT32, 6, 4), images}}) {
            assertThrows(IllegalArgumentException.class, () -> align.infer(wrong));
        }
        assertThrows(IllegalArgumentException.class, () -> new RoiAlign(0, 2, 1, 0, false).infer(x,
                TensorSpec.of(DType.FLOAT32, 6, 4), images));
        assertThrows(IllegalArgumentException.class,
                () -> new RoiAlignGrad(align, 2, List.of(4L, 5L)).infer(TensorSpec.of(DType.FLOAT32, 6, 4), images,
                        TensorSpec.of(DType.FLOAT32, 6, 3, 2, 3)));
        assertThrows(IllegalArgumentException.class,
                () -> new BilinearSamples().infer(x, TensorSpec.of(DType.FLOAT32, 2, 3, 7), null));
        assertThrows(IllegalArgumentException.class, () -> new BilinearSamples().infer(x,
                TensorSpec.of(DType.FLOAT32, 2, 2, 7), TensorSpec.of(DType.FLOAT32, 2, 8)));
    }

    @Test
    void samplesBetweenElementsAndAtTheBorder() {
        assertArrayEquals(new double[]{12.5}, sampled(1.25, 0.5));
        assertArrayEquals(new double[]{10}, sampled(2.5, 1));
        assertArrayEquals(new double[]{0}, sampled(3, 1));
        assertArrayEquals(new double[]{0}, sampled(-1, 1));
        assertArrayEquals(new double[]{0}, sampled(Double.NaN, 1));
        assertArrayEquals(new double[]{0}, sampled(1, Double.POSITIVE_INFINITY));
    }

    @Test
    void viewsWithChannelsLast() {
        Tensor x = Tensor.of(DType.FLOAT32, new double[]{0, 1, 10, 11, 20, 21}, 1, 3, 1, 2);
        Tensor view = new Tensor(x.buffer(), 0,
                new TensorSpec(DType.FLOAT32, Shape.of(1, 2, 3, 1), Layout.strided(6, 1, 2, 2)));
        Tensor places = Tensor.of(DType.FLOAT32, new double[]{0.5, 2, 0, 0}, 1, 2, 2);
        assertArrayEquals(new double[]{5, 20, 6, 21},
                KernelRun.run(Kernels.system(), new BilinearSamples(), view, places, null)[0].toDoubleArray(), 1e-6);
        Tensor region = Tensor.of(DType.FLOAT32, new double[]{0, 0, 1, 2}, 1, 4);
        assertArrayEquals(new double[]{5, 15, 6, 16}, KernelRun.run(Kernels.system(), new RoiAlign(2, 1, 1, 1, false),
                view, region, Tensor.of(new long[]{0}, 1))[0].toDoubleArray(), 1e-6);
    }
}
