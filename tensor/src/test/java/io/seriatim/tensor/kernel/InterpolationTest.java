package io.seriatim.tensor.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.network.Interpolation;
import io.seriatim.tensor.computation.network.InterpolationGrad;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Interpolation by hand: what each kind takes, along one, two and three spatial dimensions. */
class InterpolationTest {
    private static double[] line(Interpolation.Kind kind, float step, int places, double... x) {
        Interpolation interpolation = new Interpolation(kind, List.of((long) places), List.of(step));
        return KernelRun.run(Kernels.portable(), interpolation, Tensor.of(DType.FLOAT64, x, 1, 1, x.length))[0]
                .toDoubleArray();
    }

    @Test
    void nearestElements() {
        assertArrayEquals(new double[]{10, 10, 20, 20}, line(Interpolation.Kind.NEAREST, 0.5f, 4, 10, 20));
        assertArrayEquals(new double[]{10, 20, 20, 20}, line(Interpolation.Kind.NEAREST_ROUNDED, 0.5f, 4, 10, 20));
        assertArrayEquals(new double[]{10, 30}, line(Interpolation.Kind.NEAREST, 2, 2, 10, 20, 30, 40));
    }

    @Test
    void mixturesOfNeighbours() {
        assertArrayEquals(new double[]{10, 15, 20, 20}, line(Interpolation.Kind.LINEAR, 0.5f, 4, 10, 20));
        assertArrayEquals(new double[]{10, 12.5, 17.5, 20}, line(Interpolation.Kind.LINEAR_OF_AREAS, 0.5f, 4, 10, 20));
    }

    @Test
    void allSpatialDimensionsOfAView() {
        Tensor x = Tensor.of(DType.FLOAT32, new double[]{0, 1, 2, 3, 4, 5, 6, 7}, 1, 2, 2, 2, 1);
        Tensor channelsLast = new Tensor(x.buffer(), 0,
                new TensorSpec(DType.FLOAT32, Shape.of(1, 1, 2, 2, 2), Layout.strided(8, 1, 4, 2, 1)));
        Interpolation middle = new Interpolation(Interpolation.Kind.LINEAR_OF_AREAS, List.of(1L, 1L, 1L),
                List.of(2f, 2f, 2f));
        assertArrayEquals(new double[]{3.5}, KernelRun.run(Kernels.system(), middle, channelsLast)[0].toDoubleArray());
    }

    @Test
    void wrongSizesAreRefused() {
        Interpolation two = new Interpolation(Interpolation.Kind.LINEAR, List.of(2L, 2L), List.of(1f, 1f));
        IllegalArgumentException rank = assertThrows(IllegalArgumentException.class,
                () -> two.infer(TensorSpec.of(DType.FLOAT32, 1, 1, 4)));
        assertEquals(
                "interpolation: x needs two dimensions and one to three spatial ones, which output and steps have "
                        + "an entry for, but they have "
                        + "2 and 2; the inputs are [float32 [1, 1, 4]]",
                rank.getMessage());
        Interpolation back = new Interpolation(Interpolation.Kind.LINEAR, List.of(2L), List.of(-1f));
        assertThrows(IllegalArgumentException.class, () -> back.infer(TensorSpec.of(DType.FLOAT32, 1, 1, 4)));
        assertThrows(IllegalArgumentException.class,
                () -> new InterpolationGrad(two, List.of(3L, 3L)).infer(TensorSpec.of(DType.FLOAT32, 1, 1, 4, 4)));
        assertThrows(IllegalArgumentException.class, () -> two.infer(TensorSpec.of(DType.INT32, 1, 1, 4, 4)));
    }
}
