package io.seriatim.graph.ops.shape;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.graph.ops.SmallProgram;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** PaddlePaddle 2.6.2 has no kernels for pad2d any more: it must pad as pad3d does volumes of one plane. */
class ImagePadOperationsTest {
    private static final Map<String, String> VOLUME_MODES = Map.of("constant", "constant", "reflect", "reflect", "edge",
            "replicate");

    private static final int TOP = 1;
    private static final int BOTTOM = 2;
    private static final int LEFT = 0;
    private static final int RIGHT = 3;

    private static Tensor random(long seed, long... dims) {
        return Tensor.of(new SplittableRandom(seed).doubles(Shape.of(dims).size(), -1, 1).toArray(), dims);
    }

    private static OpDesc.Builder image(String type, String mode, boolean last) {
        return OpDesc.of(type).in("X", "x").attr("mode", mode).attr("data_format", last ? "NHWC" : "NCHW")
                .attr("pad_value", 0.5f);
    }

    private static OpDesc.Builder volume(String type, String mode, boolean last) {
        return OpDesc.of(type).in("X", "x").attr("mode", Objects.requireNonNull(VOLUME_MODES.get(mode)))
                .attr("data_format", last ? "NDHWC" : "NCDHW").attr("value", 0.5f)
                .attr("paddings", new int[]{LEFT, RIGHT, TOP, BOTTOM, 0, 0});
    }

    @ParameterizedTest
    @ValueSource(strings = {"constant", "reflect", "edge"})
    void imagesArePaddedLikeVolumesOfOnePlane(String mode) {
        for (boolean last : new boolean[]{false, true}) {
            long[] dims = last ? new long[]{2, 4, 5, 3} : new long[]{2, 3, 4, 5};
            Tensor x = random(1, dims);
            Tensor volume = x.reshape(plane(dims, last));
            int[] paddings = {TOP, BOTTOM, LEFT, RIGHT};
            Tensor y = SmallProgram.run(image("pad2d", mode, last).out("Out", "y").attr("paddings", paddings).build(),
                    Map.of("x", x), "y");
            Tensor expected = SmallProgram.run(volume("pad3d", mode, last).out("Out", "y").build(),
                    Map.of("x", volume), "y");
            assertEquals(Shape.of(plane(y.shape().dims(), last)), expected.shape());
            assertArrayEquals(expected.toDoubleArray(), y.toDoubleArray());
            Tensor given = SmallProgram.run(
                    image("pad2d", mode, last).in("Paddings", "p").out("Out", "y").attr("paddings", new int[4]).build(),
                    Map.of("x", x, "p", Tensor.of(new long[]{TOP, BOTTOM, LEFT, RIGHT}, 4)), "y");
            assertArrayEquals(expected.toDoubleArray(), given.toDoubleArray());

            Tensor dy = random(2, y.shape().dims());
            Tensor dx = SmallProgram.run(
                    image("pad2d_grad", mode, last).in("Out@GRAD", "dy").out("X@GRAD", "dx").attr("paddings", paddings)
                            .build(),
                    Map.of("x", x, "dy", dy), "dx");
            Tensor gradient = SmallProgram.run(
                    volume("pad3d_grad", mode, last).in("Out@GRAD", "dy").out("X@GRAD", "dx").build(),
                    Map.of("x", volume, "dy", dy.reshape(plane(dy.shape().dims(), last))), "dx");
            assertArrayEquals(gradient.toDoubleArray(), dx.toDoubleArray());
        }
    }

    /** The dimensions of a volume with one plane. */
    private static long[] plane(long[] dims, boolean last) {
        return last
                ? new long[]{dims[0], 1, dims[1], dims[2], dims[3]}
                : new long[]{dims[0], dims[1], 1, dims[2], dims[3]};
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void negativePaddingsTakeElementsAway(boolean last) {
        long[] dims = last ? new long[]{1, 2, 3, 1} : new long[]{1, 1, 2, 3};
        Tensor x = Tensor.of(new double[]{1, 2, 3, 4, 5, 6}, dims);
        int[] paddings = {-1, 1, -1, 0};
        Tensor y = SmallProgram.run(image("pad2d", "constant", last).out("Out", "y").attr("paddings", paddings).build(),
                Map.of("x", x), "y");
        assertArrayEquals(new double[]{5, 6, 0.5, 0.5}, y.toDoubleArray());
        Tensor dx = SmallProgram.run(
                image("pad2d_grad", "constant", last).in("Out@GRAD", "dy").out("X@GRAD", "dx")
                        .attr("paddings", paddings).build(),
                Map.of("x", x, "dy", y), "dx");
        assertArrayEquals(new double[]{0, 0, 0, 0, 5, 6}, dx.toDoubleArray());
    }
}
