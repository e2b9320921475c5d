package io.seriatim.graph.ops.creation;

import static io.seriatim.graph.ops.SmallProgram.refused;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.OneOperation;
import io.seriatim.graph.ops.SmallProgram;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Created and copied tensors beyond the golden data: exact whole numbers, and arguments that are refused. */
class FillOperationsTest {
    private static final int INT32 = 2;
    private static final int INT64 = 3;
    private static final int FLOAT32 = 5;

    private static OpDesc.Builder fill(String text, int dtype) {
        return OpDesc.of("fill_constant").out("Out", "y").attr("shape", new long[]{2}).attr("str_value", text)
                .attr("dtype", dtype);
    }

    private static OpDesc.Builder range() {
        return OpDesc.of("range").in("Start", "start").in("End", "end").in("Step", "step").out("Out", "y");
    }

    private static Map<String, Tensor> numbers(long start, long end, long step) {
        return Map.of("start", Tensor.of(new long[]{start}), "end", Tensor.of(new long[]{end}), "step",
                Tensor.of(new long[]{step}));
    }

    @Test
    void wholeNumbersAreExact() {
        assertArrayEquals(new long[]{Long.MAX_VALUE, Long.MAX_VALUE},
                SmallProgram.run(fill("9223372036854775807", INT64).build(), Map.of(), "y").toLongArray());
        long large = (1L << 53) + 1;
        assertArrayEquals(new long[]{large, large + 2},
                SmallProgram.run(range().build(), numbers(large, large + 4, 2), "y").toLongArray());
    }

    @ParameterizedTest
    @ValueSource(strings = {"inf", "nan", "9223372036854775808", "-1e19"})
    void valuesThatAreNoWholeNumberAreRefused(String text) {
        refused(fill(text, INT64).build(), Map.of(), "'fill_constant'", "is none of int64");
    }

    @Test
    void valuesThatAreNoneAreRefused() {
        refused(fill("many", FLOAT32).build(), Map.of(), "must be a number, inf or nan, but is 'many'");
        refused(fill("3000000000", INT32).build(), Map.of(), "is none of int32");
        refused(fill("1", FLOAT32).attr("shape", new long[]{-1}).build(), Map.of(), "negative dimensions");
        refused(fill("1", FLOAT32).in("ValueTensor", "v").build(), Map.of("v", Tensor.of(new float[2], 2)),
                "one element, but has 2");
        refused(OpDesc.of("fill_any_like").in("X", "x").out("Out", "y").attr("value", 3e9f).attr("dtype", INT32)
                .build(),
                Map.of("x", Tensor.of(new float[1])), "is none of int32");
        refused(OpDesc.of("fill_constant_batch_size_like").in("Input", "x").out("Out", "y").attr("shape", new int[]{-1})
                .attr("output_dim_idx", 1).build(), Map.of("x", Tensor.of(new float[1], 1)),
                "output_dim_idx must be from 0 to 0, but is 1");
        refused(OpDesc.of("assign_value").out("Out", "y").attr("shape", new int[]{3}).attr("dtype", FLOAT32)
                .attr("fp32_values", new float[2]).build(), Map.of(), "[3]", "values, 2");
        refused(OpDesc.of("eye").out("Out", "y").attr("num_rows", -1L).build(), Map.of(), "num_rows", "-1");
    }

    @Test
    void sequencesThatDoNotEndAreRefused() {
        refused(range().build(), numbers(1, 5, 0), "Step must lead from Start to End");
        refused(range().build(), numbers(1, 5, -1), "Step must lead from Start to End");
        refused(range().build(), numbers(0, Long.MAX_VALUE, 1), "too many numbers");
        OpDesc linspace = OpDesc.of("linspace").in("Start", "start").in("Stop", "end").in("Num", "step").out("Out", "y")
                .attr("dtype", FLOAT32).build();
        refused(linspace, numbers(1, 5, 0), "at least 1");
    }

    @Test
    void anImageChangesItsLayout() {
        Tensor image = Tensor.of(new float[]{1, 2, 3, 4, 5, 6}, 1, 2, 1, 3);
        Tensor last = SmallProgram.run(OpDesc.of("transfer_layout").in("X", "x").out("Out", "y").attr("src_layout", 2)
                .attr("dst_layout", 1).build(), Map.of("x", image), "y");
        assertEquals(Shape.of(1, 1, 3, 2), last.shape());
        assertArrayEquals(new double[]{1, 4, 2, 5, 3, 6}, last.toDoubleArray());
        Tensor first = SmallProgram.run(OpDesc.of("transfer_layout").in("X", "x").out("Out", "y").attr("src_layout", 1)
                .attr("dst_layout", 2).build(), Map.of("x", last), "y");
        assertEquals(image.shape(), first.shape());
        assertArrayEquals(image.toDoubleArray(), first.toDoubleArray());
    }

    @Test
    void coalescedTensorsBeginAtBlocks() {
        OpDesc.Builder op = OpDesc.of("coalesce_tensor").in("Input", "a", "b").out("Output", "c", "d")
                .out("FusedOutput", "whole")
                .attr("dtype", FLOAT32).attr("copy_data", true);
        Map<String, Tensor> parts = Map.of("a", Tensor.of(new float[]{1, 2, 3}, 3), "b", Tensor.of(new float[]{4}, 1));
        assertEquals(Shape.of(2048), SmallProgram.run(op.build(), parts, "whole").shape());
        Tensor whole = SmallProgram.run(op.attr("align_size", 8).build(), parts, "whole");
        assertArrayEquals(new double[]{1, 2, 3, 0, 4, 0}, whole.toDoubleArray());
        assertArrayEquals(new double[]{4}, SmallProgram.run(op.build(), parts, "d").toDoubleArray());
        refused(op.build(), Map.of("a", Tensor.of(new float[1]), "b", Tensor.of(DType.INT32, new long[1])),
                "input 1 is int32");
    }

    @Test
    void rowsKeepTheirIndexes() {
        Operation schema = Operations.system().get("assign");
        OneOperation rows = new OneOperation("assign").in("X", ArgType.rows(DType.FLOAT32, 2, 5, 3)).out("Out");
        assertEquals(ArgType.rows(DType.FLOAT32, 2, 5, 3), rows.inferred("Out"));
        assertEquals(2, rows.computations().size(), "values and indexes are copied by " + schema);
    }
}
