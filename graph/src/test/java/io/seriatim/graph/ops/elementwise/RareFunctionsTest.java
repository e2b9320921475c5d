package io.seriatim.graph.ops.elementwise;

import static io.seriatim.graph.ops.SmallProgram.run;
import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.FLOAT64;
import static io.seriatim.tensor.DType.INT64;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import io.seriatim.graph.ops.OneOperation;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.Tensor;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Rarer functions and filled diagonals beyond the golden data. */
class RareFunctionsTest {
    @Test
    void ordersAndTypesThatDoNotFitAreRefused() {
        new OneOperation("polygamma").in("x", FLOAT32, 2).out("out").attr("n", -1)
                .isRefused("must be from 0 to 100, but is -1");
        new OneOperation("i0").in("x", INT64, 2).out("out")
                .isRefused("x must be of a floating-point type, but is int64");
    }

    @Test
    void neighboursBroadcast() {
        OpDesc op = OpDesc.of("nextafter").in("x", "x").in("y", "y").out("out", "z").build();
        Map<String, Tensor> feeds = Map.of("x", Tensor.of(new double[]{1, 2}, 2, 1), "y",
                Tensor.of(new double[]{0, 2}, 2));
        assertArrayEquals(new double[]{Math.nextDown(1.0), Math.nextUp(1.0), Math.nextDown(2.0), 2},
                run(op, feeds, "z").toDoubleArray());
        new OneOperation("nextafter").in("x", FLOAT32, 2).in("y", FLOAT64, 2).out("out")
                .isRefused("but are float32 and float64");
    }

    @Test
    void diagonalsThatThereAreNotAreRefused() {
        new OneOperation("fill_diagonal").in("X", FLOAT32, 2).out("Out").isRefused("two dimensions or more, but has 1");
        new OneOperation("fill_diagonal").in("X", FLOAT32, 2, 3, 2).out("Out").isRefused("as long in all of them");
        OneOperation values = new OneOperation("fill_diagonal_tensor").in("X", FLOAT32, 2, 3, 4).in("Y", FLOAT32, 4, 3)
                .out("Out");
        values.isRefused("then the diagonal, [4, 2], but is [4, 3]");
        new OneOperation("fill_diagonal_tensor").in("X", FLOAT32, 2, 3).in("Y", FLOAT32, 2).out("Out").attr("dim2", 0)
                .isRefused("dim1 and dim2 must differ, but both are 0");
    }

    @Test
    void aDiagonalOutsideOfAMatrixChangesNothing() {
        OpDesc op = OpDesc.of("fill_diagonal_tensor").in("X", "x").in("Y", "y").out("Out", "z").attr("offset", 5L)
                .build();
        Map<String, Tensor> feeds = Map.of("x", Tensor.of(new double[]{1, 2, 3, 4}, 2, 2), "y",
                Tensor.of(new double[0], 0));
        assertArrayEquals(new double[]{1, 2, 3, 4}, run(op, feeds, "z").toDoubleArray());
    }

    @Test
    void shiftsThatDoNotFitAreRefused() {
        OneOperation shift = new OneOperation("temporal_shift").in("X", FLOAT32, 5, 4, 1, 1).out("Out").attr("seg_num",
                2);
        shift.isRefused("the 5 images must be a multiple of seg_num, 2");
        new OneOperation("temporal_shift").in("X", FLOAT32, 4, 4, 1, 1).out("Out").attr("seg_num", 2)
                .attr("shift_ratio", 0.5f)
                .isRefused("between 0 and 0.5, but is 0.5");
        new OneOperation("temporal_shift").in("X", FLOAT32, 4, 4, 1).out("Out").attr("seg_num", 2)
                .isRefused("four dimensions");
    }
}
