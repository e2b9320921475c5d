package io.seriatim.graph.ops.reduction;

import static io.seriatim.graph.ops.SmallProgram.refused;
import static io.seriatim.graph.ops.SmallProgram.run;
import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.FLOAT64;
import static io.seriatim.tensor.DType.INT32;
import static io.seriatim.tensor.DType.INT64;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.graph.ops.OneOperation;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.Tensor;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Counts beyond the golden data. */
class CountOperationsTest {
    private static OpDesc.Builder counts() {
        return OpDesc.of("bincount").in("X", "x").out("Out", "y");
    }

    @Test
    void typesOfCounts() {
        Tensor x = Tensor.of(INT32, new long[]{2, 0, 2}, 3);
        assertEquals(INT64, run(counts().build(), Map.of("x", x), "y").dtype());
        Tensor y = run(counts().in("Weights", "w").build(), Map.of("x", x, "w", Tensor.of(new long[]{1, 2, 3}, 3)),
                "y");
        assertEquals(FLOAT64, y.dtype());
        assertArrayEquals(new double[]{2, 0, 4}, y.toDoubleArray());
    }

    @Test
    void withoutNumbersThereAreNoCounts() {
        assertEquals(0,
                run(counts().attr("minlength", 3).build(), Map.of("x", Tensor.of(new long[0], 0)), "y").shape().size());
    }

    @Test
    void numbersThatCannotBeCountedAreRefused() {
        refused(counts().build(), Map.of("x", Tensor.of(new long[]{1, -2}, 2)), "'bincount'",
                "0 or more, but one is -2");
        refused(counts().build(), Map.of("x", Tensor.of(new long[]{1L << 40}, 1)), "1099511627776, is too large");
        refused(counts().attr("minlength", -1).build(), Map.of("x", Tensor.of(new long[]{1}, 1)),
                "minlength must be 0 or more, but is -1");
        new OneOperation("bincount").in("X", FLOAT32, 3).out("Out")
                .isRefused("vector of int32 or int64, but is float32");
        new OneOperation("bincount").in("X", INT64, 3).in("Weights", FLOAT32, 2).out("Out")
                .isRefused("a weight for each");
    }

    private static OpDesc.Builder histogram() {
        return OpDesc.of("histogram").in("X", "x").out("Out", "y").attr("bins", 2L);
    }

    @Test
    void whatIsOutsideIsNotCounted() {
        Tensor x = Tensor.of(new double[]{-0.1, 0, 0.5, 1, 1.1, Double.NaN}, 6);
        assertArrayEquals(new long[]{1, 2}, run(histogram().attr("max", 1).build(), Map.of("x", x), "y").toLongArray());
        refused(histogram().build(), Map.of("x", x), "'histogram'", "NaN", "give min and max");
    }

    @Test
    void rangesThatThereAreNotAreRefused() {
        new OneOperation("histogram").in("X", FLOAT32, 3).out("Out").attr("bins", 0L)
                .isRefused("bins must be from 1 to 67108864, but is 0");
        new OneOperation("histogram").in("X", FLOAT32, 3).out("Out").attr("min", 2).attr("max", 1)
                .isRefused("they are 1 and 2");
    }

    @Test
    void wholeNumbersDifferThatAreEqualAsFractions() {
        long large = 1L << 60;
        OpDesc op = OpDesc.of("unique_consecutive").in("X", "x").out("Out", "y").build();
        Tensor y = run(op, Map.of("x", Tensor.of(new long[]{large, large + 1, large + 1}, 3)), "y");
        assertArrayEquals(new long[]{large, large + 1}, y.toLongArray());
    }

    @Test
    void partsThatCannotBeComparedAreRefused() {
        new OneOperation("unique_consecutive").in("X", FLOAT32, 3, 3).out("Out").attr("axis", new int[]{0, 1})
                .isRefused("at most one dimension");
        new OneOperation("unique_consecutive").in("X", FLOAT32, 3).out("Out", "Index")
                .isRefused("dtype must be int32 or int64, but is float32");
    }
}
