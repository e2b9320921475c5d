package io.seriatim.graph.ops.linalg;

import static io.seriatim.graph.ops.SmallProgram.refused;
import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.FLOAT64;
import static io.seriatim.tensor.DType.INT64;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.graph.ops.OneOperation;
import io.seriatim.graph.ops.SmallProgram;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Inverses, determinants and systems of equations: singular and empty matrices, and the arguments that are refused. */
class MatrixOperationsTest {
    @Test
    void matricesWithoutRows() {
        OpDesc inverse = OpDesc.of("inverse").in("Input", "x").out("Output", "y").build();
        assertEquals(Shape.of(3, 0, 0),
                SmallProgram.run(inverse, Map.of("x", Tensor.of(FLOAT64, new double[0], 3, 0, 0)), "y").shape());
        OpDesc determinant = OpDesc.of("determinant").in("Input", "x").out("Out", "y").build();
        assertArrayEquals(new double[]{1, 1}, SmallProgram
                .run(determinant, Map.of("x", Tensor.of(FLOAT64, new double[0], 2, 0, 0)), "y").toDoubleArray());
    }

    @Test
    void theDeterminantOfASingularMatrixIs0AndHasNoGradient() {
        Tensor x = Tensor.of(new double[]{1, 2, 2, 4, 2, 0, 0, 3}, 2, 2, 2);
        OpDesc gradient = OpDesc.of("determinant_grad").in("Input", "x").in("Out", "y").in("Out@GRAD", "dy")
                .out("Input@GRAD", "dx")
                .build();
        Map<String, Tensor> feeds = Map.of("x", x, "y", Tensor.of(new double[]{0, 6}, 2), "dy",
                Tensor.of(new double[]{1, 10}, 2));
        assertArrayEquals(new double[]{0, 0, 0, 0, 30, 0, 0, 20},
                SmallProgram.run(gradient, feeds, "dx").toDoubleArray(), 1e-12);
    }

    @Test
    void singularMatricesAreRefused() {
        Tensor x = Tensor.of(new double[]{1, 0, 0, 1, 1, 2, 2, 4}, 2, 2, 2);
        Map<String, Tensor> feeds = Map.of("x", x, "y", Tensor.of(new double[]{1, 2}, 2, 1));
        refused(OpDesc.of("inverse").in("Input", "x").out("Output", "z").build(), feeds, "'inverse'", "matrix 1 of 2",
                "is singular: column 1 depends");
        refused(OpDesc.of("solve").in("X", "x").in("Y", "y").out("Out", "z").build(), feeds, "'solve'", "is singular");
        refused(OpDesc.of("matrix_power").in("X", "x").out("Out", "z").attr("n", -2).build(), feeds, "'matrix_power'",
                "is singular");
        Map<String, Tensor> triangle = Map.of("x", Tensor.of(new double[]{0, 1, 0, 1}, 2, 2), "y",
                Tensor.of(new double[]{1, 2}, 2, 1));
        refused(OpDesc.of("triangular_solve").in("X", "x").in("Y", "y").out("Out", "z").build(), triangle, "singular",
                "element 0 of its diagonal is 0");
        refused(OpDesc.of("cholesky").in("X", "x").out("Out", "z").build(), feeds, "matrix 1 of 2",
                "not positive definite: its leading 2 rows");
        double[] notANumber = new double[4];
        Arrays.fill(notANumber, Double.NaN);
        refused(OpDesc.of("cholesky").in("X", "x").out("Out", "z").build(), Map.of("x", Tensor.of(notANumber, 2, 2)),
                "positive definite");
    }

    @Test
    void shapesThatDoNotFitAreRefused() {
        new OneOperation("inverse").in("Input", FLOAT32, 2, 3).out("Output")
                .isRefused("square, but have 2 rows and 3 columns");
        new OneOperation("determinant").in("Input", FLOAT32, 3).out("Out")
                .isRefused("needs at least two dimensions, but has 1");
        new OneOperation("cholesky").in("X", INT64, 3, 3).out("Out")
                .isRefused("X must be float32 or float64, but is int64");
        new OneOperation("solve").in("X", FLOAT32, 3, 3).in("Y", FLOAT32, 2, 4).out("Out")
                .isRefused("3 columns, but the right side has 2 rows");
        new OneOperation("solve").in("X", FLOAT32, 3, 3, 3).in("Y", FLOAT32, 4, 3).out("Out")
                .isRefused("3 columns, but the right side has 4 rows");
        new OneOperation("solve").in("X", FLOAT32, 3, 3).in("Y", FLOAT64, 3, 3).out("Out")
                .isRefused("of the type of X");
        new OneOperation("triangular_solve").in("X", FLOAT32, 2, 3, 3).in("Y", FLOAT32, 4, 3, 1).out("Out")
                .isRefused("do not broadcast");
        new OneOperation("cholesky_solve").in("X", FLOAT32, 2, 1).in("Y", FLOAT32, 3, 3).out("Out")
                .isRefused("has 2 rows");
    }

    @Test
    void chainsThatDoNotFitAreRefused() {
        Tensor matrix = Tensor.of(new double[6], 2, 3);
        Map<String, Tensor> feeds = Map.of("x", matrix, "v", Tensor.of(new double[3], 3), "w",
                Tensor.of(new long[3], 3));
        refused(OpDesc.of("multi_dot").in("X", "x").out("Out", "z").build(), feeds, "two matrices or more, but has 1");
        refused(OpDesc.of("multi_dot").in("X", "x", "x").out("Out", "z").build(), feeds,
                "place 1 of X must have 3 rows, but has 2");
        refused(OpDesc.of("multi_dot").in("X", "x", "v", "x").out("Out", "z").build(), feeds,
                "vectors at most at its ends", "place 1");
        refused(OpDesc.of("multi_dot").in("X", "x", "w").out("Out", "z").build(), feeds, "one floating-point type",
                "place 1 is int64");
    }
}
