package io.seriatim.graph.ops.linalg;

import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.FLOAT64;
import static io.seriatim.tensor.DType.INT64;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import io.seriatim.graph.numerics.Householder;
import io.seriatim.graph.ops.OneOperation;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Matrices as products of others: what they multiply to, and what is refused. */
class DecompositionOperationsTest {
    private static final double[][] AWKWARD = {{0, 0, 0, 0, 0, 0}, {1, 2, 0, 3, 0, 4}, {-1, 0, 0, 0, -2, 0},
            {1e-160, 2e-160, 3e-160, 4, 5, 6}};

    private static void product(double[] matrix, int rows, int columns) {
        Householder factors = Householder.of(matrix.clone(), rows, columns);
        double[] q = factors.orthogonal(rows);
        double[] r = factors.upper(rows);
        double[] made = new double[rows * columns];
        double[] unit = new double[rows * rows];
        double[] square = new double[rows * rows];
        for (int i = 0; i < rows; i++) {
            unit[i * rows + i] = 1;
            for (int k = 0; k < rows; k++) {
                for (int j = 0; j < columns; j++) {
                    made[i * columns + j] += q[i * rows + k] * r[k * columns + j];
                }
                for (int j = 0; j < rows; j++) {
                    square[i * rows + j] += q[k * rows + i] * q[k * rows + j];
                }
            }
        }
        assertArrayEquals(matrix, made, 1e-12);
        assertArrayEquals(unit, square, 1e-12);
    }

    @Test
    void factorsMultiplyToTheMatrix() {
        Random random = new Random(7);
        for (int[] size : new int[][]{{1, 1}, {4, 4}, {7, 3}, {3, 7}, {1, 5}, {5, 1}}) {
            product(random.doubles((long) size[0] * size[1], -2, 2).toArray(), size[0], size[1]);
        }
        for (double[] matrix : AWKWARD) {
            product(matrix, 3, 2);
            product(matrix, 2, 3);
        }
    }

    @Test
    void refusedFactors() {
        new OneOperation("qr").in("X", FLOAT32, 3).out("Q", "R")
                .isRefused("X needs at least two dimensions, but has 1");
        new OneOperation("qr").in("X", INT64, 3, 3).out("Q", "R")
                .isRefused("X must be float32 or float64, but is int64");
        new OneOperation("qr").in("X", FLOAT64, 3, 3).out("Q", "R").attr("mode", "full")
                .isRefused("mode must be reduced, complete or r, but is 'full'");
    }

    @Test
    void gradientOfAWideMatrix() {
        new OneOperation("qr_grad").in("Q", FLOAT32, 2, 2).in("Q@GRAD", FLOAT32, 2, 2).in("R", FLOAT32, 2, 3)
                .in("R@GRAD", FLOAT32, 2, 3)
                .in("X", FLOAT32, 2, 3).out("X@GRAD")
                .isRefused(
                        "needs Q and a square R, but mode is 'reduced' and R is [2, 3]; use mode reduced and at "
                                + "least as many rows");
    }
}
