package io.seriatim.tensor.linalg;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.Test;

/** LU and Cholesky decompositions and triangular systems. */
class SolversTest {
    private static Matrix random(Random random, int rows, int columns) {
        return new Matrix(rows, columns, random.doubles((long) rows * columns, -1, 1).toArray());
    }

    private static double[] values(Matrix matrix) {
        double[] values = new double[matrix.rows() * matrix.columns()];
        matrix.copyTo(values, 0);
        return values;
    }

    @Test
    void solutionsSolve() {
        Random random = new Random(3);
        for (int n : new int[]{1, 2, 5, 17}) {
            Matrix a = random(random, n, n);
            Matrix b = random(random, n, 3);
            assertArrayEquals(values(b), values(a.times(LuDecomposition.of(a).solve(b))), 1e-10);
            Matrix upper = a.triangle(true).plus(Matrix.identity(n).scaled(3));
            assertArrayEquals(values(b), values(upper.times(TriangularSystem.solve(upper, true, false, b))), 1e-10);
            Matrix positive = a.times(a.transposed()).plus(Matrix.identity(n));
            Matrix l = CholeskyDecomposition.lower(positive);
            assertArrayEquals(values(positive), values(l.times(l.transposed())), 1e-12);
        }
    }

    @Test
    void determinantsMultiply() {
        Random random = new Random(4);
        for (int n : new int[]{1, 3, 6}) {
            Matrix x = random(random, n, n);
            Matrix y = random(random, n, n);
            LuDecomposition a = LuDecomposition.of(x);
            assertEquals(Math.abs(a.determinant()), Math.exp(a.logAbsDeterminant()), 1e-12);
            assertEquals(Math.signum(a.determinant()), a.sign());
            assertEquals(a.determinant() * LuDecomposition.of(y).determinant(),
                    LuDecomposition.of(x.times(y)).determinant(),
                    1e-10);
        }
    }

    @Test
    void inversesMultiplyToTheIdentity() {
        Random random = new Random(5);
        for (int n : new int[]{1, 2, 7, 40}) {
            Matrix a = random(random, n, n);
            assertArrayEquals(values(Matrix.identity(n)), values(a.times(LuDecomposition.of(a).inverse())), 1e-10);
        }
    }

    /** As in LAPACK, only a pivot of 0 makes a matrix singular. */
    @Test
    void smallPivotsAreNotSingular() {
        Matrix small = Matrix.identity(2).scaled(1e-200);
        assertFalse(LuDecomposition.of(small).isSingular());
        assertArrayEquals(new double[]{1e200, 0, 0, 1e200}, values(LuDecomposition.of(small).inverse()), 1e186);
        Matrix singular = new Matrix(2, 2, new double[]{1, 2, 2, 4});
        assertTrue(LuDecomposition.of(singular).isSingular());
        assertEquals(0, LuDecomposition.of(singular).determinant(), Double.MIN_VALUE);
        assertEquals(0, LuDecomposition.of(singular).sign(), Double.MIN_VALUE);
        assertEquals(Double.NEGATIVE_INFINITY, LuDecomposition.of(singular).logAbsDeterminant());
    }

    @Test
    void thePermutationDecidesTheSign() {
        Matrix cycle = new Matrix(3, 3, new double[]{0, 1, 0, 0, 0, 1, 1, 0, 0});
        assertEquals(1, LuDecomposition.of(cycle).sign());
        Matrix exchange = new Matrix(3, 3, new double[]{0, 1, 0, 1, 0, 0, 0, 0, 1});
        assertEquals(-1, LuDecomposition.of(exchange).sign());
        assertEquals(1, LuDecomposition.of(new Matrix(0, 0)).sign());
    }

    @Test
    void notANumberSpreads() {
        Matrix matrix = Matrix.identity(3);
        matrix.set(1, 1, Double.NaN);
        assertEquals(Double.NaN, LuDecomposition.of(matrix).determinant());
        assertEquals(Double.NaN, LuDecomposition.of(matrix).inverse().at(1, 1));
    }

    /** The number of leading rows and columns at which a matrix stops being positive definite. */
    @Test
    void matricesThatAreNotPositiveDefiniteAreRefused() {
        for (int failing = 1; failing <= 9; failing++) {
            Matrix matrix = Matrix.identity(9);
            matrix.set(failing - 1, failing - 1, -1);
            matrix.set(8, 8, -2);
            refuses(matrix, failing);
            matrix.set(failing - 1, failing - 1, Double.NaN);
            if (failing == 9) {
                refuses(matrix, failing);
            }
        }
        refuses(new Matrix(2, 2, new double[]{Double.NaN, 0, 0, 1}), 1);
        refuses(new Matrix(2, 2), 1);
        assertEquals(0, CholeskyDecomposition.lower(new Matrix(0, 0)).rows());
    }

    private static void refuses(Matrix matrix, int leading) {
        assertEquals("the matrix is not positive definite: its leading " + leading + " rows and columns are not",
                assertThrows(IllegalArgumentException.class, () -> CholeskyDecomposition.lower(matrix)).getMessage());
    }

    @Test
    void choleskyReadsTheLowerTriangle() {
        Matrix matrix = new Matrix(2, 2, new double[]{4, 99, 2, 5});
        assertArrayEquals(new double[]{2, 0, 1, 2}, values(CholeskyDecomposition.lower(matrix)));
    }

    @Test
    void triangularSystemsReadOneTriangle() {
        Matrix triangle = new Matrix(2, 2, new double[]{2, 99, 4, 8});
        Matrix right = new Matrix(2, 1, new double[]{6, 20});
        assertArrayEquals(new double[]{3, 1}, values(TriangularSystem.solve(triangle, false, false, right)));
        assertArrayEquals(new double[]{6, -4}, values(TriangularSystem.solve(triangle, false, true, right)));
        triangle.set(1, 1, 0);
        assertEquals("the triangular matrix is singular: element 1 of its diagonal is 0",
                assertThrows(IllegalArgumentException.class,
                        () -> TriangularSystem.solve(triangle, false, false, right)).getMessage());
        assertArrayEquals(new double[]{6, -4}, values(TriangularSystem.solve(triangle, false, true, right)));
    }
}
