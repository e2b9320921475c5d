package io.seriatim.graph.ops.indexing;

import static io.seriatim.graph.ops.SmallProgram.refused;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.ops.SmallProgram;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Operations that read indexes, beyond the golden data: gradients that Paddle computes wrongly, and arguments that are
 * refused.
 */
class IndexOperationsTest {
    private static Tensor floats(long[] dims) {
        float[] values = new float[Math.toIntExact(Shape.of(dims).size())];
        for (int i = 0; i < values.length; i++) {
            values[i] = i + 1;
        }
        return Tensor.of(values, dims);
    }

    private static Tensor x(long... dims) {
        return floats(dims);
    }

    private static Tensor indexes(long... values) {
        return Tensor.of(values, values.length);
    }

    private static OpDesc.Builder of(String type, String... slots) {
        OpDesc.Builder builder = OpDesc.of(type);
        for (String slot : slots) {
            builder.in(slot, slot);
        }
        return builder;
    }

    /** Paddle's kernel for processors repeats the first outer slice's gradient. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void theGradientOfGatherAlongALaterAxisBelongsToItsSlice(boolean fast) {
        OpDesc gradient = of("gather_grad", "X", "Index", "Out@GRAD").out("X@GRAD", "dx").attr("axis", 1).build();
        Tensor dx = SmallProgram.run(Interpreter.of(fast ? Kernels.system() : Kernels.portable()),
                SmallProgram.program(gradient),
                Map.of("X", x(2, 3), "Index", indexes(2, 0, 2), "Out@GRAD", x(2, 3)), "dx");
        assertArrayEquals(new double[]{2, 0, 1 + 3, 5, 0, 4 + 6}, dx.toDoubleArray());
    }

    /** Along the first axis of a matrix, for random sizes; extremes of NaN and of both zeros are those of Java. */
    @Test
    void productsAndExtremesAreThoseOfPlainLoops() {
        for (int trial = 0; trial < 100; trial++) {
            SplittableRandom random = new SplittableRandom(trial);
            int length = random.nextInt(1, 9);
            int width = random.nextInt(1, 20);
            int rows = random.nextInt(1, 30);
            DType dtype = random.nextInt(3) == 0 ? DType.FLOAT64 : DType.FLOAT32;
            double[] special = {Double.NaN, 0, -0.0, Double.POSITIVE_INFINITY, -1, 2, 0.5};
            double[] x = random.ints((long) length * width, 0, special.length).mapToDouble(i -> special[i]).toArray();
            double[] values = random.ints((long) rows * width, 0, special.length).mapToDouble(i -> special[i])
                    .toArray();
            long[] index = random.longs((long) rows * width, 0, length).toArray();
            for (String reduce : List.of("mul", "amin", "amax")) {
                double[] expected = x.clone();
                for (int i = 0; i < index.length; i++) {
                    int at = (int) index[i] * width + i % width;
                    expected[at] = switch (reduce) {
                        case "mul" -> expected[at] * values[i];
                        case "amin" -> Math.min(expected[at], values[i]);
                        default -> Math.max(expected[at], values[i]);
                    };
                }
                // Products of powers of 2 that leave the range of float32.
                double[] rounded = dtype == DType.FLOAT64
                        ? expected
                        : Arrays.stream(expected).map(value -> (float) value).toArray();
                assertArrayEquals(rounded, SmallProgram.run(
                        of("put_along_axis", "Input", "Index", "Value").out("Result", "y").attr("Axis", 0)
                                .attr("Reduce", reduce).build(),
                        Map.of("Input", Tensor.of(dtype, x, length, width), "Index", Tensor.of(index, rows, width),
                                "Value", Tensor.of(dtype, values, rows, width)),
                        "y").toDoubleArray(), reduce + ", trial " + trial);
            }
        }
    }

    @Test
    void anAxisMayBeNegative() {
        Tensor out = SmallProgram.run(of("gather", "X", "Index").out("Out", "y").attr("axis", -1).build(),
                Map.of("X", x(2, 3), "Index", indexes(2)), "y");
        assertEquals(Shape.of(2, 1), out.shape());
        assertArrayEquals(new double[]{3, 6}, out.toDoubleArray());
    }

    @Test
    void outOfRangeOneHotRowsAreZerosWhereThatIsAllowed() {
        OpDesc op = of("one_hot_v2", "X").out("Out", "y").attr("depth", 2).attr("allow_out_of_range", true).build();
        assertArrayEquals(new double[]{0, 1, 0, 0, 0, 0},
                SmallProgram.run(op, Map.of("X", indexes(1, 2, -1)), "y").toDoubleArray());
    }

    @Test
    void fractionsAreNotZero() {
        Tensor out = SmallProgram.run(of("where_index", "Condition").out("Out", "y").build(),
                Map.of("Condition", Tensor.of(new float[]{0, 0.5f, -0f, Float.NaN}, 2, 2)), "y");
        assertEquals(Shape.of(2, 2), out.shape());
        assertArrayEquals(new long[]{0, 1, 1, 1}, out.toLongArray());
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, 3})
    void indexesOutOfRangeAreRefused(long index) {
        String range = "must be from 0 to 2, but is " + index;
        Tensor one = indexes(index);
        refused(of("gather", "X", "Index").out("Out", "y").build(), Map.of("X", x(3), "Index", one), range);
        refused(of("index_select", "X", "Index").out("Out", "y").build(), Map.of("X", x(3), "Index", one), range);
        refused(of("index_sample", "X", "Index").out("Out", "y").build(),
                Map.of("X", x(1, 3), "Index", one.reshape(1, 1)), range);
        refused(of("gather_nd", "X", "Index").out("Out", "y").build(), Map.of("X", x(3), "Index", one), range);
        refused(of("take_along_axis", "Input", "Index").out("Result", "y").attr("Axis", 0).build(),
                Map.of("Input", x(3), "Index", one),
                range);
        for (String reduce : List.of("assign", "add", "mul")) {
            refused(of("put_along_axis", "Input", "Index", "Value").out("Result", "y").attr("Axis", 0)
                    .attr("Reduce", reduce).build(),
                    Map.of("Input", x(3), "Index", one, "Value", x(1)), range);
        }
        refused(of("scatter", "X", "Ids", "Updates").out("Out", "y").build(),
                Map.of("X", x(3), "Ids", one, "Updates", x(1)), range);
        refused(of("scatter_nd_add", "X", "Index", "Updates").out("Out", "y").build(),
                Map.of("X", x(3), "Index", one, "Updates", Tensor.of(new float[1])), range);
        refused(of("one_hot_v2", "X").out("Out", "y").attr("depth", 3).build(), Map.of("X", one), range);
        refused(of("lookup_table_v2", "W", "Ids").out("Out", "y").build(), Map.of("W", x(3, 2), "Ids", one), range);
    }

    @Test
    void shapesThatDoNotFitAreRefused() {
        Tensor pair = indexes(0, 1).reshape(1, 2);
        refused(of("gather", "X", "Index").out("Out", "y").build(), Map.of("X", x(3), "Index", pair), "'gather'",
                "[n], [n, 1] or []");
        refused(of("gather", "X", "Index").out("Out", "y").attr("axis", 1).build(),
                Map.of("X", x(3), "Index", indexes(0)), "axis 1");
        refused(of("gather", "X", "Index", "Axis").out("Out", "y").build(),
                Map.of("X", x(3), "Index", indexes(0), "Axis", indexes(0, 1)), "Axis must hold one number");
        refused(of("gather", "X", "Index").out("Out", "y").build(), Map.of("X", x(), "Index", indexes(0)),
                "at least one dimension");
        refused(of("index_select", "X", "Index").out("Out", "y").build(), Map.of("X", x(3), "Index", x(1)),
                "int32 or int64, but are float32");
        refused(of("gather_nd", "X", "Index").out("Out", "y").build(), Map.of("X", x(3), "Index", pair),
                "the 1 dimensions of X");
        refused(of("index_sample", "X", "Index").out("Out", "y").build(), Map.of("X", x(2, 3), "Index", pair),
                "[2, 3] and [1, 2]");
        refused(of("take_along_axis", "Input", "Index").out("Result", "y").attr("Axis", 0).build(),
                Map.of("Input", x(3), "Index", pair),
                "as many dimensions");
        refused(of("take_along_axis", "Input", "Index").out("Result", "y").attr("Axis", 0).build(),
                Map.of("Input", x(3, 1), "Index", pair), "dimension 1 of Index must be no longer");
        refused(of("take_along_axis", "Input", "Index").out("Result", "y").build(),
                Map.of("Input", x(3, 1), "Index", pair),
                "'Axis' is not given");
        refused(of("put_along_axis", "Input", "Index", "Value").out("Result", "y").attr("Axis", 0).build(),
                Map.of("Input", x(3, 2), "Index", pair, "Value", x(1, 1)), "[1, 2] and [1, 1]");
        refused(of("put_along_axis", "Input", "Index", "Value").out("Result", "y").attr("Axis", 0)
                .attr("Reduce", "most").build(),
                Map.of("Input", x(3, 2), "Index", pair, "Value", x(1, 2)), "amin or amax, but is 'most'");
        refused(of("scatter", "X", "Ids", "Updates").out("Out", "y").build(),
                Map.of("X", x(3, 2), "Ids", indexes(0, 1), "Updates", x(3, 2)), "shape [2, 2]", "have [3, 2]");
        refused(of("scatter_nd_add", "X", "Index", "Updates").out("Out", "y").build(),
                Map.of("X", x(3, 2), "Index", pair, "Updates", x(2)), "shape [1], but have [2]");
    }

    @Test
    void otherInputThatDoesNotFitIsRefused() {
        refused(of("masked_select", "X", "Mask").out("Y", "y").build(), Map.of("X", x(3), "Mask", indexes(1, 0, 1)),
                "must be bool, but is int64");
        refused(of("masked_select", "X", "Mask").out("Y", "y").build(),
                Map.of("X", x(3), "Mask", Tensor.of(DType.BOOL, new long[]{1, 0}, 2)), "[3] and [2] do not broadcast");
        refused(of("where_index", "Condition").out("Out", "y").build(), Map.of("Condition", x()),
                "at least one dimension");
        refused(of("one_hot_v2", "X").out("Out", "y").build(), Map.of("X", indexes(0)),
                "depth must be 1 or more, but is -1");
        refused(of("one_hot_v2", "X", "depth_tensor").out("Out", "y").build(),
                Map.of("X", indexes(0), "depth_tensor", indexes(0)),
                "depth must be 1 or more, but is 0");
        refused(of("lookup_table_v2", "W", "Ids").out("Out", "y").build(), Map.of("W", x(3), "Ids", indexes(0)),
                "two dimensions");
        refused(of("lookup_table", "W", "Ids").out("Out", "y").build(), Map.of("W", x(3, 2), "Ids", indexes(0, 1)),
                "last dimension of Ids must be 1, but the shape is [2]");
        refused(of("merge_selected_rows", "X").out("Out", "y").build(), Map.of("X", x(3)), "SELECTED_ROWS");
        refused(of("get_tensor_from_selected_rows", "X").out("Out", "y").build(), Map.of("X", x(3)), "SELECTED_ROWS");
    }
}
