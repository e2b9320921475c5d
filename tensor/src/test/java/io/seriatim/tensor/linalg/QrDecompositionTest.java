package io.seriatim.tensor.linalg;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** QR decompositions: their products and LAPACK's signs. */
class QrDecompositionTest {
    private static final double[][] AWKWARD = {{0, 0, 0, 0, 0, 0}, {1, 2, 0, 3, 0, 4}, {-1, 0, 0, 0, -2, 0},
            {1e-160, 2e-160, 3e-160, 4, 5, 6}};

    private static void product(double[] matrix, int rows, int columns) {
        QrDecomposition factors = QrDecomposition.of(new Matrix(rows, columns, matrix.clone()));
        double[] q = values(factors.q(rows));
        double[] r = values(factors.r(rows));
        int least = Math.min(rows, columns);
        assertArrayEquals(values(factors.q(rows).firstColumns(least)), values(factors.q(least)));
        assertArrayEquals(Arrays.copyOf(r, least * columns), values(factors.r(least)));
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

    private static double[] values(Matrix matrix) {
        double[] values = new double[matrix.rows() * matrix.columns()];
        matrix.copyTo(values, 0);
        return values;
    }

    /** LAPACK leaves a column that has only zeros below the diagonal, and negates others that begin above 0. */
    @Test
    void signsAreThoseOfLapack() {
        Matrix triangle = new Matrix(3, 3, new double[]{1, 2, 3, 0, -4, 5, 0, 0, 6});
        assertArrayEquals(values(triangle), values(QrDecomposition.of(triangle).r(3)));
        assertArrayEquals(values(Matrix.identity(3)), values(QrDecomposition.of(triangle).q(3)));
        // As dgeqrf and dorgqr give them.
        Matrix matrix = new Matrix(2, 2, new double[]{3, 2, 4, 1});
        QrDecomposition decomposition = QrDecomposition.of(matrix);
        assertArrayEquals(new double[]{-5, -2, 0, -1}, values(decomposition.r(2)), 1e-15);
        assertArrayEquals(new double[]{-0.6, -0.8, -0.8, 0.6}, values(decomposition.q(2)), 1e-15);
    }

    @Test
    void notANumberSpreads() {
        Matrix matrix = Matrix.identity(3);
        matrix.set(1, 0, Double.NaN);
        assertEquals(Double.NaN, QrDecomposition.of(matrix).r(3).at(0, 0));
        assertEquals(0, QrDecomposition.of(new Matrix(0, 3)).r(0).rows());
        assertArrayEquals(values(Matrix.identity(2)), values(QrDecomposition.of(new Matrix(2, 0)).q(2)));
    }
}
