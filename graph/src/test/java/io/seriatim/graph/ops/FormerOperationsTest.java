package io.seriatim.graph.ops;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Former types of operations, and views as values, beyond the golden data: what PaddlePaddle has no kernel for or
 * computes otherwise, and arguments that are refused.
 */
class FormerOperationsTest {
    private static final double EXACT = 0;

    private static double[] run(OpDesc.Builder op, Map<String, Tensor> feeds) {
        return SmallProgram.run(op.build(), feeds, "y").toDoubleArray();
    }

    private static Tensor whole(int number) {
        return Tensor.of(DType.INT32, new long[]{number}, 1);
    }

    @Test
    void fillListsItsValues() {
        OpDesc op = OpDesc.of("fill").out("Out", "y").attr("value", new float[]{1, -2, 3.5f, 4})
                .attr("shape", new int[]{2, 2}).attr("dtype", 3).build();
        Tensor y = SmallProgram.run(op, Map.of(), "y");
        assertEquals(Shape.of(2, 2), y.shape());
        assertArrayEquals(new long[]{1, -2, 3, 4}, y.toLongArray());
    }

    @Test
    void emptyHasTheShapeThatTensorsTell() {
        OpDesc op = OpDesc.of("empty").in("ShapeTensorList", "a", "b").out("Out", "y").attr("dtype", 6).build();
        Tensor y = SmallProgram.run(op, Map.of("a", whole(2), "b", whole(3)), "y");
        assertEquals(Shape.of(2, 3), y.shape());
        assertEquals(DType.FLOAT64, y.dtype());
    }

    /** PaddlePaddle keeps one of the gradients of an element that is seen several times. */
    @Test
    void gradientsOfElementsThatAreSeenSeveralTimesAreSummed() {
        Tensor x = Tensor.of(new double[]{1, 2, 3, 4}, 4);
        OpDesc.Builder strided = OpDesc.of("as_strided_grad").in("input", "x").in("out@GRAD", "dy")
                .out("input@GRAD", "y").attr("dims", new long[]{3, 2}).attr("stride", new long[]{1, 1});
        Tensor dy = Tensor.of(new double[]{1, 10, 2, 20, 3, 30}, 3, 2);
        assertArrayEquals(new double[]{1, 12, 23, 30}, run(strided, Map.of("x", x, "dy", dy)), EXACT);
        OpDesc.Builder unfold = OpDesc.of("tensor_unfold_grad").in("input", "x").in("out@GRAD", "dy")
                .out("input@GRAD", "y").attr("axis", 0L).attr("size", 2L).attr("step", 1L);
        assertArrayEquals(new double[]{1, 12, 23, 30}, run(unfold, Map.of("x", x, "dy", dy)), EXACT);
        Tensor rows = Tensor.of(new double[]{1, 2, 3, 4, 5, 6}, 3, 2);
        Tensor windows = Tensor.of(new double[]{1, 2, 3, 4, 5, 6, 7, 8}, 2, 2, 2);
        assertArrayEquals(new double[]{1, 3, 2 + 5, 4 + 7, 6, 8}, run(unfold, Map.of("x", rows, "dy", windows)), EXACT);
    }

    @Test
    void theGradientOfAnIndexIsZeroElsewhere() {
        OpDesc.Builder op = OpDesc.of("index_select_strided_grad").in("x", "x").in("out@GRAD", "dy")
                .out("x@GRAD", "y").attr("index", 1L).attr("axis", 1);
        Tensor x = Tensor.of(new double[]{1, 2, 3, 4, 5, 6}, 2, 3);
        assertArrayEquals(new double[]{0, 7, 0, 0, 8, 0},
                run(op, Map.of("x", x, "dy", Tensor.of(new double[]{7, 8}, 2))), EXACT);
    }

    /** Here PaddlePaddle divides by 0. */
    @Test
    void viewsOfLargerTypesShortenTheLastDimension() {
        long bits = Double.doubleToRawLongBits(-2.5);
        OpDesc op = OpDesc.of("view_dtype").in("input", "x").out("out", "y").attr("dtype", 6).build();
        Tensor x = Tensor.of(DType.INT32, new long[]{(int) bits, (int) (bits >>> 32), 0, 0}, 2, 2);
        Tensor y = SmallProgram.run(op, Map.of("x", x), "y");
        assertEquals(Shape.of(2, 1), y.shape());
        assertArrayEquals(new double[]{-2.5, 0}, y.toDoubleArray(), EXACT);
        OpDesc gradient = OpDesc.of("view_dtype_grad").in("input", "x").in("out@GRAD", "dy").out("input@GRAD", "y")
                .attr("dtype", 6).build();
        Tensor back = SmallProgram.run(gradient, Map.of("x", x, "dy", y), "y");
        assertArrayEquals(x.toLongArray(), back.toLongArray());
    }

    @Test
    void aCheckStopsAtNumbersThatAreNotFinite() {
        OpDesc op = OpDesc.of("check_numerics").in("tensor", "x").out("stats", "y").out("values", "z")
                .attr("op_type", "tanh").attr("var_name", "hidden").build();
        Map<String, Tensor> bad = Map.of("x", Tensor.of(new double[]{1, Double.NaN, 0}, 3));
        Interpreter interpreter = Interpreter.of(Kernels.system());
        String message = String.valueOf(assertThrows(IllegalStateException.class,
                () -> interpreter.run(SmallProgram.program(op), bad, List.of("y"))).getMessage());
        for (String part : List.of("check_numerics", "op=tanh", "tensor=hidden", "num_nan=1", "num_zero=1")) {
            assertTrue(message.contains(part), message);
        }
    }

    private static OneOperation of(String type, long... dims) {
        return new OneOperation(type).in("X", DType.FLOAT32, dims).out("Out");
    }

    private static OneOperation view(String type, long... dims) {
        return new OneOperation(type).in("input", DType.FLOAT32, dims).out("out");
    }

    private static OneOperation strided(long[] dims, long[] strides, long offset) {
        return view("as_strided", 2, 3).attr("dims", dims).attr("stride", strides).attr("offset", offset);
    }

    private static OneOperation unfold(long axis, long size, long step) {
        return view("tensor_unfold", 5).attr("axis", axis).attr("size", size).attr("step", step);
    }

    private static OneOperation index(long index, int axis) {
        return new OneOperation("index_select_strided").in("x", DType.FLOAT32, 2, 3).out("out").attr("index", index)
                .attr("axis", axis);
    }

    private static OneOperation crossEntropy(DType label, long... dims) {
        return new OneOperation("cross_entropy").in("X", DType.FLOAT32, 2, 3).in("Label", label, dims).out("Y");
    }

    private static OneOperation fill(int dtype, int... shape) {
        return new OneOperation("fill").out("Out").attr("value", new float[]{1, 2}).attr("shape", shape)
                .attr("dtype", dtype);
    }

    static Stream<Arguments> refusals() {
        return Stream.of(Arguments.of(of("reshape", 2, 3).attr("shape", new int[]{4, 2}), "[4, 2]"),
                Arguments.of(of("reshape", 2, 3).attr("shape", new int[]{-1, -1, 6}), "one -1"),
                Arguments.of(of("reshape", 2, 3).attr("shape", new int[]{-7}), "-7"),
                Arguments.of(of("reshape", 2, 3).attr("shape", new int[]{-1, 0, 0}), "dimension 2"),
                Arguments.of(of("transpose", 2, 3).attr("axis", new int[]{0, 0}), "[0, 0]"),
                Arguments.of(of("transpose", 2, 3).attr("axis", new int[]{0, 5}), "5"),
                Arguments.of(of("transpose", 2, 3).attr("axis", new int[]{0}), "each of the 2"),
                Arguments.of(of("expand", 2, 3).attr("expand_times", new int[]{1}), "[1]"),
                Arguments.of(of("expand", 2, 3).attr("expand_times", new int[]{0, 1}), "[0, 1]"),
                Arguments.of(of("expand", 2, 3).attr("expand_times", new int[]{-1, 1}), "[-1, 1]"),
                Arguments.of(of("expand", 1L << 40, 1L << 20).attr("expand_times", new int[]{1 << 30, 1 << 30}),
                        "overflow"),
                Arguments.of(of("reverse", 2, 3).attr("axis", new int[]{2}), "axis 2"),
                Arguments.of(of("reverse", 2, 3).attr("axis", new int[]{1, -1}), "at most once"),
                Arguments.of(of("minus", 2, 3).in("Y", DType.FLOAT32, 3), "[3]"),
                Arguments.of(of("minus", 2, 3).in("Y", DType.FLOAT64, 2, 3), "float64"),
                Arguments.of(crossEntropy(DType.INT64, 3, 1), "[3, 1]"),
                Arguments.of(crossEntropy(DType.FLOAT32, 2, 1), "Label"),
                Arguments.of(crossEntropy(DType.FLOAT32, 2, 1).attr("soft_label", true), "[2, 1]"),
                Arguments.of(crossEntropy(DType.FLOAT64, 2, 3).attr("soft_label", true), "float64"),
                Arguments.of(fill(5, 3), "[3]"), Arguments.of(fill(5, -2, -1), "[-2, -1]"),
                Arguments.of(fill(99, 2), "99"),
                Arguments.of(new OneOperation("empty").out("Out").attr("shape", new long[]{2, -3}), "[2, -3]"),
                Arguments.of(new OneOperation("empty").out("Out").attr("shape", new long[]{1L << 40, 1L << 40}),
                        "more elements"),
                Arguments.of(of("unique_with_counts", 2, 3).attr("dtype", 3), "vector"),
                Arguments.of(of("unique_with_counts", 2).attr("dtype", 5), "dtype"),
                Arguments.of(of("modified_huber_loss", 2, 3).in("Y", DType.FLOAT32, 2, 3), "[2, 3]"),
                Arguments.of(of("identity_loss", 2).attr("reduction", 3), "reduction"),
                Arguments.of(of("identity_loss", 2).attr("reduction", -1), "-1"),
                Arguments.of(strided(new long[]{2, 3}, new long[]{3, 2}, 0), "element 7"),
                Arguments.of(strided(new long[]{2}, new long[]{1, 1}, 0), "[1, 1]"),
                Arguments.of(strided(new long[]{-2}, new long[]{1}, 0), "[-2]"),
                Arguments.of(strided(new long[]{2}, new long[]{-1}, 4), "[-1]"),
                Arguments.of(strided(new long[]{2}, new long[]{1}, 3), "offset"),
                Arguments.of(strided(new long[]{2}, new long[]{1}, -4), "offset"),
                Arguments.of(strided(new long[]{1L << 62, 3}, new long[]{1L << 3, 1}, 0), "overflow"),
                Arguments.of(unfold(1, 2, 1), "axis 1"), Arguments.of(unfold(0, 6, 1), "size"),
                Arguments.of(unfold(0, -1, 1), "size"), Arguments.of(unfold(0, 2, 0), "step"),
                Arguments.of(view("tensor_unfold").attr("axis", 0L).attr("size", 1L).attr("step", 1L), "dimension"),
                Arguments.of(index(3, 1), "index"), Arguments.of(index(-1, 1), "-1"), Arguments.of(index(0, 2), "axis"),
                Arguments.of(view("view_dtype", 2, 3).attr("dtype", 6), "last dimension"),
                Arguments.of(view("view_dtype").attr("dtype", 6), "float64"),
                Arguments.of(view("view_dtype", 2).attr("dtype", 77), "77"),
                Arguments.of(view("view_shape", 2, 3).attr("dims", new long[]{5}), "[5]"),
                Arguments.of(new OneOperation("check_numerics").in("tensor", DType.FLOAT32, 0).out("stats", "values"),
                        "elements"),
                Arguments.of(new OneOperation("check_numerics").in("tensor", DType.FLOAT32, 2).out("stats", "values")
                        .attr("output_dir", "/tmp"), "output_dir"));
    }

    @ParameterizedTest
    @MethodSource("refusals")
    void areRefused(OneOperation operation, String part) {
        operation.isRefused(part);
    }

    @Test
    void classesThatAreNotThereAreRefused() {
        OpDesc op = OpDesc.of("cross_entropy").in("X", "x").in("Label", "l").out("Y", "y").build();
        Tensor x = Tensor.of(new float[]{0.5f, 0.5f}, 1, 2);
        for (long label : new long[]{2, -1, Long.MIN_VALUE}) {
            SmallProgram.refused(op, Map.of("x", x, "l", Tensor.of(new long[]{label}, 1, 1)), "cross_entropy",
                    String.valueOf(label));
        }
    }
}
