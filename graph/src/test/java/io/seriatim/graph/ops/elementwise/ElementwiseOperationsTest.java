package io.seriatim.graph.ops.elementwise;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.OneOperation;
import io.seriatim.graph.ops.SmallProgram;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Elementwise operations beyond the golden data: rows of tensors, exact whole numbers, empty tensors, and arguments
 * that are refused.
 */
class ElementwiseOperationsTest {
    private static final DType F = DType.FLOAT32;

    private static OneOperation two(String type, ArgType x, ArgType y) {
        return new OneOperation(type).in("X", x).in("Y", y).out("Out");
    }

    private static OneOperation two(String type, long[] x, long... y) {
        return two(type, ArgType.dense(F, x), ArgType.dense(F, y));
    }

    private static long[] dims(long... dims) {
        return dims;
    }

    private static OneOperation one(String type, DType dtype, long... dims) {
        return new OneOperation(type).in("X", dtype, dims).out("Out");
    }

    @ParameterizedTest
    @ValueSource(strings = {"elementwise_add", "elementwise_pow", "elementwise_mod", "grad_add", "less_than"})
    void shapesAndAxesMustFit(String type) {
        two(type, dims(2, 3), 4).isRefused("[2, 3] and [4] do not broadcast", "X=X float32[2, 3]");
        two(type, dims(2, 3, 4), 3).attr("axis", 3).isRefused("the axis 3 does not place [3] within 3 dimensions");
        two(type, dims(2, 3, 4), 3).attr("axis", -4).isRefused("the axis -4");
        two(type, dims(2, 3, 4), 3).attr("axis", Integer.MIN_VALUE).isRefused("the axis -2147483648");
        two(type, dims(2, 3, 4), 3, 4).attr("axis", 2).isRefused("the axis 2 does not place [3, 4]");
        two(type, dims(3), 2, 3, 4).attr("axis", 0).isRefused("do not broadcast");
        two(type, dims(2, 3), 2, 1).attr("axis", 1).isRefused("the axis must be -1 or 0, but is 1");
        assertArrayEquals(dims(2, 4, 3), two(type, dims(2, 4, 3), 3, 1).attr("axis", 2).inferred("Out").dims());
    }

    @ParameterizedTest
    @ValueSource(strings = {"elementwise_sub", "elementwise_max", "equal", "logical_and"})
    void typesMustBeOne(String type) {
        two(type, ArgType.dense(F, 2), ArgType.dense(DType.FLOAT64, 2)).isRefused(
                "must have one type, but are float32 and float64",
                "cast");
    }

    @Test
    void rowsAreOnlyScaled() {
        ArgType rows = ArgType.rows(F, 2, 5, 3);
        two("elementwise_add", rows, ArgType.dense(F, 1)).isRefused("can only be multiplied by one number",
                "2 rows of");
        two("elementwise_mul", rows, ArgType.dense(F, 3)).isRefused("can only be multiplied by one number");
        two("elementwise_mul", ArgType.dense(F, 5, 3), rows).isRefused("must be tensors");
        assertEquals(rows, two("elementwise_mul", rows, ArgType.dense(F, 1)).inferred("Out"));
    }

    @Test
    void parametersMustMakeSense() {
        one("clip", F, 3).attr("min", 2f).attr("max", 1f)
                .isRefused("max must be at least min, but is 1.0, and min 2.0");
        one("clip", F, 3).attr("min", 2f).isRefused("'max' is not given");
        one("clip", F, 3).attr("min", 2f).attr("max", 1f).in("Max", F, 2).isRefused("Max takes one element, not 2");
        one("scale", F, 3).in("ScaleTensor", F, 0).isRefused("ScaleTensor takes one element, not 0");
        one("pow", DType.INT64, 3).attr("factor", -2f).isRefused("a whole number has no power of -2.0", "cast");
        one("increment", F, 2).isRefused("X must have one element, but has 2");
        one("tanh", DType.INT32, 2).isRefused("not defined of int32", "cast");
        one("relu", DType.BOOL, 2).isRefused("not defined of bool");
        one("cast", F, 2).attr("in_dtype", 5).isRefused("'out_dtype' is not given");
    }

    @Test
    void alphaMustFitItsMode() {
        one("prelu", F, 2, 3).in("Alpha", F, 2).isRefused("of the mode all", "one element");
        one("prelu", F, 2, 3).in("Alpha", F, 2).attr("mode", "channel").isRefused("each of the 3 channels");
        one("prelu", F, 3).in("Alpha", F, 3).attr("mode", "channel").isRefused("two dimensions or more");
        one("prelu", F, 2, 3).in("Alpha", F, 3).attr("mode", "element").isRefused("as many dimensions as X");
        one("prelu", F, 2, 3).in("Alpha", F, 1, 2).attr("mode", "element")
                .isRefused("as many elements as one of the batch");
        one("prelu", F, 2, 3).in("Alpha", F, 1).attr("mode", "some")
                .isRefused("all, channel or element, but is 'some'");
        one("prelu", F, 2, 3).in("Alpha", DType.FLOAT64, 1).isRefused("one type");
    }

    @Test
    void whereTakesOneShapeAndTruthValues() {
        two("where", dims(2, 3), 2, 3).in("Condition", F, 2, 3).isRefused("Condition must be bool, but is float32");
        two("where", dims(2, 3), 2, 3).in("Condition", DType.BOOL, 3).isRefused("one shape, but [3] is not [2, 3]",
                "expand");
        two("where", dims(2, 3), 2, 1).in("Condition", DType.BOOL, 2, 3).isRefused("[2, 1] is not [2, 3]");
        two("where", ArgType.dense(F, 2), ArgType.dense(DType.INT32, 2)).in("Condition", DType.BOOL, 2)
                .isRefused("one type");
    }

    @Test
    void theSecondGradientOfAQuotientNeedsTheFirst() {
        new OneOperation("elementwise_div_grad_grad").in("Y", F, 2).in("Out", F, 2).in("DDY", F, 2).out("DDOut")
                .isRefused("computed from the gradient of X");
    }

    private static OpDesc sum(String... x) {
        return OpDesc.of("sum").in("X", x).out("Out", "out").build();
    }

    @Test
    void sumsAreOfOneTypeAndShape() {
        Tensor a = Tensor.of(new float[]{1, 2}, 2);
        SmallProgram.refused(sum("a", "b"), Map.of("a", a, "b", Tensor.of(new float[]{1, 2}, 1, 2)), "one shape",
                "place 1");
        SmallProgram.refused(sum("a", "b"), Map.of("a", a, "b", Tensor.of(new double[]{1, 2}, 2)), "one type",
                "place 1 is float64");
        SmallProgram.refused(sum("a"), Map.of("a", Tensor.of(DType.BOOL, new long[]{1}, 1)),
                "truth values have no sum");
    }

    @Test
    void wholeNumbersAreNotDividedByZero() {
        Map<String, Tensor> feeds = Map.of("x", Tensor.of(new long[]{7}, 1), "y", Tensor.of(new long[]{0}, 1));
        for (String type : List.of("elementwise_div", "elementwise_mod", "elementwise_floordiv")) {
            SmallProgram.refused(OpDesc.of(type).in("X", "x").in("Y", "y").out("Out", "out").build(), feeds,
                    "divided by zero");
        }
    }

    /** The gradient of a table, by rows: those of its ids. */
    private static OpDesc rows(String ids, String out) {
        return OpDesc.of("lookup_table_v2_grad").in("W", "w").in("Ids", ids).in("Out@GRAD", "d").out("W@GRAD", out)
                .attr("is_sparse", true)
                .attr("padding_idx", -1L).build();
    }

    private static float[] run(String fetch, OpDesc... ops) {
        Map<String, Tensor> feeds = Map.of("w", Tensor.of(new float[]{1, 2, 3, 4, 5, 6}, 3, 2), "i",
                Tensor.of(new long[]{2, 0}, 2), "j",
                Tensor.of(new long[]{2, 2}, 2), "d", Tensor.of(new float[]{1, 2, 3, 4}, 2, 2), "two",
                Tensor.of(new float[]{2}, 1));
        return floats(SmallProgram.run(Interpreter.of(Kernels.system()), SmallProgram.program(ops), feeds, fetch));
    }

    private static float[] floats(Tensor tensor) {
        double[] values = tensor.toDoubleArray();
        float[] floats = new float[values.length];
        for (int i = 0; i < floats.length; i++) {
            floats[i] = (float) values[i];
        }
        return floats;
    }

    @Test
    void sumsOfRowsHoldAllOfThem() {
        assertArrayEquals(new float[]{3, 4, 0, 0, 5, 8}, run("out", rows("i", "a"), rows("j", "b"), sum("a", "b")));
        assertArrayEquals(new float[]{3, 4, 0, 0, 1, 2}, run("out", rows("i", "a"), sum("a")));
        assertArrayEquals(new float[]{4, 6, 3, 4, 10, 14},
                run("out", rows("i", "a"), rows("j", "b"), sum("a", "w", "b")));
    }

    @Test
    void rowsAreScaledAndClipped() {
        OpDesc scale = OpDesc.of("scale").in("X", "a").out("Out", "out").attr("scale", 3f).build();
        assertArrayEquals(new float[]{9, 12, 0, 0, 3, 6}, run("out", rows("i", "a"), scale));
        OpDesc product = OpDesc.of("elementwise_mul").in("X", "a").in("Y", "two").out("Out", "a").build();
        assertArrayEquals(new float[]{6, 8, 0, 0, 2, 4}, run("a", rows("i", "a"), product));
        OpDesc clip = OpDesc.of("clip").in("X", "a").out("Out", "out").attr("min", 2f).attr("max", 3f).build();
        assertArrayEquals(new float[]{3, 3, 0, 0, 2, 2}, run("out", rows("i", "a"), clip));
    }

    @Test
    void largeWholeNumbersStayExact() {
        long large = (1L << 60) + 1;
        Map<String, Tensor> feeds = Map.of("x", Tensor.of(new long[]{large}, 1));
        OpDesc count = OpDesc.of("increment").in("X", "x").out("Out", "x").attr("step", 2f).build();
        assertArrayEquals(new long[]{large + 2}, SmallProgram.run(count, feeds, "x").toLongArray());
        OpDesc scale = OpDesc.of("scale").in("X", "x").out("Out", "out").attr("scale", -3f).build();
        assertArrayEquals(new long[]{-3 * large}, SmallProgram.run(scale, feeds, "out").toLongArray());
        assertArrayEquals(new long[]{2 * large}, SmallProgram.run(sum("x", "x"), feeds, "out").toLongArray());
    }

    @Test
    void theGradientOfACounterSetsItBack() {
        GradientRule rule = Objects.requireNonNull(Operations.system().get("increment").gradient());
        OpDesc back = rule.make(OpDesc.of("increment").in("X", "x").out("Out", "y").attr("step", 2f).build(), _ -> true)
                .getFirst();
        assertEquals(Map.of("X", List.of("y")), back.inputs());
        assertEquals(Map.of("Out", List.of("x")), back.outputs());
        assertEquals(Attribute.of(-2f), back.attribute("step"));
    }

    /** Paddle declares the result as whole, but computes float32. */
    @Test
    void exponentialsOfWholeNumbersAreFloat() {
        assertEquals(ArgType.dense(F, 2), one("exp", DType.INT64, 2).inferred("Out"));
        assertArrayEquals(new float[]{1},
                floats(SmallProgram.run(OpDesc.of("exp").in("X", "x").out("Out", "out").build(),
                        Map.of("x", Tensor.of(new long[]{0}, 1)), "out")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"elementwise_add_grad", "elementwise_mul_grad", "elementwise_max_grad",
            "elementwise_pow_grad"})
    void whatIsRepeatedForNothingHasNoGradient(String type) {
        Tensor none = Tensor.allocate(F, 0, 3);
        Map<String, Tensor> feeds = Map.of("x", none, "d", none, "y", Tensor.of(new float[]{1, 2, 3}, 3));
        OpDesc gradient = OpDesc.of(type).in("X", "x").in("Y", "y").in("Out@GRAD", "d").out("X@GRAD", "dx")
                .out("Y@GRAD", "dy").build();
        assertArrayEquals(new float[3], floats(SmallProgram.run(gradient, feeds, "dy")));
        assertArrayEquals(new float[0], floats(SmallProgram.run(gradient, feeds, "dx")));
    }
}
