package io.seriatim.graph.ops.shape;

import static io.seriatim.graph.ops.SmallProgram.refused;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.graph.ops.SmallProgram;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * Operations that move, repeat, join and cut elements, beyond the golden data: results that Paddle computes wrongly,
 * and arguments that are refused.
 */
class ShapeOperationsTest {
    private static Tensor x(long... dims) {
        float[] values = new float[Math.toIntExact(Shape.of(dims).size())];
        for (int i = 0; i < values.length; i++) {
            values[i] = i + 1;
        }
        return Tensor.of(values, dims);
    }

    private static Tensor whole(long... values) {
        return Tensor.of(DType.INT32, values, values.length);
    }

    private static OpDesc.Builder of(String type, String... slots) {
        OpDesc.Builder builder = OpDesc.of(type);
        for (String slot : slots) {
            builder.in(slot, slot);
        }
        return builder;
    }

    private static OpDesc.Builder out(String type, String... slots) {
        return of(type, slots).out("Out", "y");
    }

    /** Paddle's kernel for processors cuts elsewhere if the axis is negative. */
    @Test
    void splitAlongANegativeAxis() {
        OpDesc split = of("split", "X").out("Out", "a", "b").attr("sections", new int[]{1, -1}).attr("axis", -1)
                .build();
        assertArrayEquals(new double[]{2, 3, 5, 6}, SmallProgram.run(split, Map.of("X", x(2, 3)), "b").toDoubleArray());
    }

    @Test
    void shapesThatDoNotBroadcastAreRefused() {
        OpDesc.Builder both = of("broadcast_tensors").in("X", "a", "b");
        Map<String, Tensor> feeds = Map.of("a", x(2, 3), "b", x(3, 2));
        refused(both.out("Out", "y", "z").build(), feeds, "'broadcast_tensors'", "[2, 3] and [3, 2] do not broadcast");
        refused(of("broadcast_tensors").in("X", "a", "b").out("Out", "y").build(), feeds,
                "X and Out must have as many variables",
                "2 and 1");
    }

    @Test
    void concatOfAScalarIsRefused() {
        refused(of("concat").in("X", "a", "b").out("Out", "y").build(), Map.of("a", x(), "b", x()), "'concat'",
                "without dimensions",
                "stack");
    }

    @Test
    void aGradientOfTilingIsTheSumOfTheTiles() {
        OpDesc gradient = of("tile_grad", "X", "Out@GRAD").out("X@GRAD", "dx").attr("repeat_times", new int[]{2, 1, 3})
                .build();
        Tensor dx = SmallProgram.run(gradient, Map.of("X", x(2, 1), "Out@GRAD", x(2, 2, 3)), "dx");
        assertArrayEquals(new double[]{1 + 2 + 3 + 7 + 8 + 9, 4 + 5 + 6 + 10 + 11 + 12}, dx.toDoubleArray());
    }

    /** Paddle's gives zeros where target_shape is not known while the program is built. */
    @Test
    void theGradientOfExpandingIsASumAlsoIfTheShapeIsUnknown() {
        OpDesc gradient = of("expand_as_v2_grad", "X", "Out@GRAD").out("X@GRAD", "dx")
                .attr("target_shape", new int[]{-1, 2}).build();
        Tensor dx = SmallProgram.run(gradient, Map.of("X", x(1, 2), "Out@GRAD", x(2, 2)), "dx");
        assertArrayEquals(new double[]{4, 6}, dx.toDoubleArray());
    }

    /** Paddle's fills the border with the value of the forward operation. */
    @Test
    void theSecondGradientOfPaddingIsPaddedWithZeros() {
        OpDesc gradient = of("pad3d_double_grad", "grad_x@GRAD").out("grad_out@GRAD", "ddy")
                .attr("paddings", new int[]{1, 1, 0, 0, 0, 0})
                .attr("value", 7f).build();
        Tensor ddy = SmallProgram.run(gradient, Map.of("grad_x@GRAD", x(1, 1, 1, 1, 2)), "ddy");
        assertArrayEquals(new double[]{0, 1, 2, 0}, ddy.toDoubleArray());
    }

    @Test
    void shapesThatDoNotFitAreRefused() {
        Map<String, Tensor> matrix = Map.of("X", x(2, 3));
        refused(out("reshape2", "X").attr("shape", new int[]{4, -1}).build(), matrix, "'reshape2'", "6 elements",
                "[4, -1]");
        refused(out("reshape2", "X").attr("shape", new int[]{-1, -1}).build(), matrix, "one -1");
        refused(out("reshape2", "X").attr("shape", new int[]{2, 3, 0}).build(), matrix,
                "dimension 2 of X, which has 2");
        refused(out("reshape2", "X", "Shape").build(), Map.of("X", x(2, 3), "Shape", whole(7)), "6 elements", "[7]");
        refused(out("transpose2", "X").attr("axis", new int[]{0, 0}).build(), matrix, "each dimension once");
        refused(out("transpose2", "X").build(), matrix, "'axis' is not given");
        refused(out("squeeze2", "X").attr("axes", new int[]{2}).build(), matrix, "axis 2");
        refused(out("unsqueeze2", "X").attr("axes", new int[]{-4}).build(), matrix, "from -3 to 2, but is -4");
        refused(out("flatten_contiguous_range", "X").attr("start_axis", 1).attr("stop_axis", 0).build(), matrix,
                "must not be after");
        refused(out("expand_v2", "X").attr("shape", new int[]{2, 4}).build(), matrix, "does not expand", "[2, 4]");
        refused(out("expand_v2", "X").attr("shape", new int[]{-1, 2, 3}).build(), matrix,
                "dimension 0, which X does not have");
        refused(out("expand_as_v2", "X", "Y").build(), Map.of("X", x(2, 3), "Y", x(3)), "at least the 2 dimensions");
        refused(out("tile", "X").attr("repeat_times", new int[]{0}).build(), matrix, "at least 1");
        refused(out("flip", "X").attr("axis", new int[]{1, -1}).build(), matrix, "at most once");
        refused(out("roll", "X").attr("shifts", new long[]{1, 2}).attr("axis", new long[]{0}).build(), matrix,
                "a shift for each axis");
        refused(out("pixel_shuffle", "X").attr("upscale_factor", 2).build(), Map.of("X", x(1, 3, 1, 1)), "3 channels");
        refused(out("tril_triu", "X").build(), Map.of("X", x(3)), "two dimensions");
    }

    @Test
    void partsThatDoNotFitAreRefused() {
        Map<String, Tensor> two = Map.of("a", x(2, 3), "b", x(3, 3));
        refused(of("concat").in("X", "a", "b").out("Out", "y").attr("axis", 1).build(), two,
                "part 1 must have length 2 in dimension 0");
        refused(of("stack").in("X", "a", "b").out("Y", "y").build(), two, "part 1 must have length 2");
        refused(of("concat").in("X", "a", "b").out("Out", "y").build(), Map.of("a", x(1), "b", whole(1)),
                "must be float32", "int32");
        refused(of("split", "X").out("Out", "a", "b").attr("num", 2).build(), Map.of("X", x(3)), "length 3",
                "2 equal parts");
        refused(of("split", "X").out("Out", "a", "b").attr("sections", new int[]{1, 1}).build(), Map.of("X", x(3)),
                "add up to the length 3");
        refused(of("unstack", "X").out("Y", "a", "b").attr("num", 2).build(), Map.of("X", x(3)), "length 3",
                "2 outputs");
        refused(of("meshgrid").in("X", "a", "b").out("Out", "c", "d").build(), two, "input 0 has 2");
    }

    @Test
    void paddingsThatDoNotFitAreRefused() {
        Map<String, Tensor> volume = Map.of("X", x(1, 1, 2, 2, 2));
        OpDesc.Builder pad = out("pad3d", "X").attr("paddings", new int[]{2, 0, 0, 0, 0, 0});
        refused(pad.attr("mode", "reflect").build(), volume,
                "length 2 in mode reflect must be at most 1, but are 2 and 0");
        refused(pad.attr("mode", "wrapped").build(), volume, "but is wrapped");
        refused(out("pad3d", "X").attr("paddings", new int[]{1}).build(), volume, "six numbers");
        refused(out("pad3d", "X").attr("paddings", new int[]{-2, -1, 0, 0, 0, 0}).build(), volume,
                "take away more than the length 2");
    }

    @Test
    void aReshapedTensorKeepsItsElements() {
        Tensor out = SmallProgram.run(out("reshape2", "X").attr("shape", new int[]{-1, 2}).build(),
                Map.of("X", x(0, 4)), "y");
        assertEquals(Shape.of(0, 2), out.shape());
    }
}
