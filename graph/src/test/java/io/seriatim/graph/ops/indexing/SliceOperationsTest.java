package io.seriatim.graph.ops.indexing;

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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Parts of tensors, beyond the golden data: gradients that Paddle computes wrongly, programs of older versions, and
 * arguments that are refused.
 */
class SliceOperationsTest {
    private static OpDesc.Builder slice(int start, int end) {
        return OpDesc.of("slice").in("Input", "x").out("Out", "y").attr("axes", new int[]{0})
                .attr("starts", new int[]{start})
                .attr("ends", new int[]{end});
    }

    private static OpDesc.Builder strided(int start, int end, int stride) {
        return OpDesc.of("strided_slice").in("Input", "x").out("Out", "y").attr("axes", new int[]{0})
                .attr("starts", new int[]{start})
                .attr("ends", new int[]{end}).attr("strides", new int[]{stride});
    }

    private static OpDesc.Builder set(long start, long end, long step) {
        return OpDesc.of("set_value").in("Input", "x").out("Out", "y").attr("axes", new long[]{0})
                .attr("starts", new long[]{start})
                .attr("ends", new long[]{end}).attr("steps", new long[]{step});
    }

    private static Map<String, Tensor> x(float... values) {
        return Map.of("x", Tensor.of(values, values.length));
    }

    @Test
    void boundsAreRefusedThatLeadNowhere() {
        refused(slice(2, 1).build(), x(1, 2, 3), "'slice'", "the end 1 of axis 0 must not be before the start 2");
        refused(slice(0, 2).attr("decrease_axis", new int[]{0}).build(), x(1, 2, 3), "2 elements of it are taken");
        refused(slice(0, 2).attr("starts", new int[]{0, 1}).build(), x(1, 2, 3),
                "as many starts as axes, 1, but there are 2");
        refused(slice(0, 2).attr("axes", new int[]{1}).build(), x(1, 2, 3), "the axis 1");
        refused(strided(0, 2, 0).build(), x(1, 2, 3), "stride of axis 0 must not be 0");
        refused(strided(0, 2, -1).build(), x(1, 2, 3), "stride -1 does not lead from 0 to 2");
        refused(set(0, 2, 0).attr("shape", new long[]{1}).attr("fp32_values", new float[]{1}).build(), x(1, 2, 3),
                "no step may be 0");
        refused(set(2, 0, 1).attr("shape", new long[]{1}).attr("fp32_values", new float[]{1}).build(), x(1, 2, 3),
                "step 1 does not lead");
    }

    @Test
    void partsOfWhatHasNoElementsHaveNone() {
        Map<String, Tensor> x = Map.of("x", Tensor.of(new float[0], 0, 4));
        OpDesc columns = slice(1, 4).attr("axes", new int[]{1}).build();
        assertEquals(Shape.of(0, 3), SmallProgram.run(columns, x, "y").shape());
        OpDesc halves = OpDesc.of("split").in("X", "x").out("Out", "a", "y").attr("num", 2).attr("axis", 1).build();
        assertEquals(Shape.of(0, 2), SmallProgram.run(halves, x, "y").shape());
    }

    @Test
    void valuesAreRefusedThatDoNotFit() {
        Tensor three = Tensor.of(new float[3], 3);
        refused(set(0, 2, 1).build(), x(1, 2, 3), "ValueTensor, or as many values");
        refused(set(0, 2, 1).in("ValueTensor", "v").build(), Map.of("x", three, "v", three),
                "[3] does not expand to the part of shape [2]");
        refused(set(0, 3, 1).in("ValueTensor", "v").build(), Map.of("x", three, "v", Tensor.of(new long[3], 3)),
                "must be float32",
                "int64");
        refused(set(0, 2, 1).attr("decrease_axes", new long[]{0}).attr("shape", new long[]{1})
                .attr("fp32_values", new float[]{1}).build(),
                x(1, 2, 3), "2 elements of it are set");
    }

    /** Programs of before 2.5 have an attribute for each type. */
    @ParameterizedTest
    @CsvSource({"FLOAT32, fp32_values", "FLOAT64, fp64_values", "INT32, int32_values", "INT64, int64_values",
            "BOOL, bool_values"})
    void valuesOfOlderPrograms(DType dtype, String attribute) {
        Object ones = switch (dtype) {
            case FLOAT32 -> new float[]{1, 0};
            case FLOAT64 -> new double[]{1, 0};
            case INT64 -> new long[]{1, 0};
            default -> new int[]{1, 0};
        };
        OpDesc op = set(2, 0, -1).attr("shape", new long[]{2}).attr(attribute, ones).build();
        Tensor out = SmallProgram.run(op, Map.of("x", Tensor.of(dtype, new long[]{1, 1, 0}, 3)), "y");
        assertEquals(dtype, out.dtype());
        assertArrayEquals(new double[]{1, 0, 1}, out.toDoubleArray());
    }

    /** Paddle's gradient leaves the first element out where the forward operation goes back to it. */
    @Test
    void theGradientOfSettingBackToTheFirstElement() {
        OpDesc.Builder gradient = OpDesc.of("set_value_grad").in("Out@GRAD", "dy").in("ValueTensor", "v")
                .out("Input@GRAD", "dx")
                .out("ValueTensor@GRAD", "dv").attr("axes", new long[]{0}).attr("starts", new long[]{2})
                .attr("ends", new long[]{-4})
                .attr("steps", new long[]{-2});
        Map<String, Tensor> feeds = Map.of("dy", Tensor.of(new float[]{1, 2, 3}, 3), "v", Tensor.of(new float[2], 2));
        assertArrayEquals(new double[]{0, 2, 0}, SmallProgram.run(gradient.build(), feeds, "dx").toDoubleArray());
        assertArrayEquals(new double[]{3, 1}, SmallProgram.run(gradient.build(), feeds, "dv").toDoubleArray());
    }

    /** Paddle's gradient does not know new axes. */
    @Test
    void theGradientOfSettingWithANewAxis() {
        OpDesc gradient = OpDesc.of("set_value_grad").in("Out@GRAD", "dy").in("ValueTensor", "v")
                .out("Input@GRAD", "dx")
                .out("ValueTensor@GRAD", "dv").attr("axes", new long[]{0}).attr("starts", new long[]{0})
                .attr("ends", new long[]{2})
                .attr("steps", new long[]{1}).attr("none_axes", new long[]{1}).build();
        Map<String, Tensor> feeds = Map.of("dy", Tensor.of(new float[]{1, 2, 3, 4}, 2, 2), "v",
                Tensor.of(new float[2], 2, 1, 1));
        Tensor dv = SmallProgram.run(gradient, feeds, "dv");
        assertEquals(Shape.of(2, 1, 1), dv.shape());
        assertArrayEquals(new double[]{3, 7}, dv.toDoubleArray());
    }

    @Test
    void theGradientInPlaceReadsBeforeItClears() {
        OpDesc gradient = OpDesc.of("set_value_grad").in("Out@GRAD", "g").in("ValueTensor", "v")
                .out("ValueTensor@GRAD", "dv")
                .out("Input@GRAD", "g").attr("axes", new long[]{0}).attr("starts", new long[]{1})
                .attr("ends", new long[]{2})
                .attr("steps", new long[]{1}).build();
        Map<String, Tensor> feeds = Map.of("g", Tensor.of(new float[]{1, 2, 3}, 3), "v", Tensor.of(new float[1], 1));
        assertArrayEquals(new double[]{2}, SmallProgram.run(gradient, feeds, "dv").toDoubleArray());
        assertArrayEquals(new double[]{1, 0, 3}, SmallProgram.run(gradient, feeds, "g").toDoubleArray());
    }
}
