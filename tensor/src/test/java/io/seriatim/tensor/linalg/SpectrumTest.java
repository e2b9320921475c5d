package io.seriatim.tensor.linalg;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Random;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** Eigenvalues and singular values with their vectors: their products, their order, and awkward matrices. */
class SpectrumTest {
    private static final double BOUND = 1e-12;

    private static Matrix random(Random random, int rows, int columns) {
        return new Matrix(rows, columns, random.doubles((long) rows * columns, -2, 2).toArray());
    }

    private static void same(Matrix expected, Matrix actual) {
        double[] want = new double[expected.rows() * expected.columns()];
        double[] have = new double[actual.rows() * actual.columns()];
        expected.copyTo(want, 0);
        actual.copyTo(have, 0);
        double scale = Arrays.stream(want).map(Math::abs).max().orElse(0);
        assertArrayEquals(want, have, BOUND * Math.max(scale, 1e-300));
    }

    private static void orthogonal(Matrix vectors) {
        same(Matrix.identity(vectors.columns()), vectors.transposed().times(vectors));
    }

    @Test
    void eigenvectorsDiagonalise() {
        Random random = new Random(5);
        for (int n : new int[]{1, 2, 3, 8, 30}) {
            Matrix drawn = random(random, n, n);
            Matrix symmetric = drawn.plus(drawn.transposed());
            SymmetricEigendecomposition spectrum = SymmetricEigendecomposition.of(symmetric, n % 2 == 0);
            Matrix vectors = spectrum.vectors();
            orthogonal(vectors);
            same(symmetric, vectors.scaledColumns(spectrum.values()).times(vectors.transposed()));
            double[] values = spectrum.values();
            double[] sorted = values.clone();
            Arrays.sort(sorted);
            assertArrayEquals(sorted, values);
        }
    }

    private static void decomposes(Matrix matrix) {
        for (boolean full : new boolean[]{false, true}) {
            SingularValueDecomposition spectrum = SingularValueDecomposition.of(matrix, full);
            orthogonal(spectrum.left());
            orthogonal(spectrum.right());
            double[] values = spectrum.values();
            Matrix product = spectrum.left().firstColumns(values.length).scaledColumns(values)
                    .times(spectrum.right().firstColumns(values.length).transposed());
            same(matrix, product);
            for (int i = 1; i < values.length; i++) {
                assertTrue(values[i] >= 0 && values[i] <= values[i - 1]);
            }
        }
    }

    @Test
    void singularVectorsMultiplyToTheMatrix() {
        Random random = new Random(6);
        for (int[] size : new int[][]{{1, 1}, {4, 4}, {7, 3}, {3, 7}, {1, 5}, {5, 1}, {20, 20}}) {
            decomposes(random(random, size[0], size[1]));
        }
    }

    @Test
    void matricesOfLowerRankHaveAllVectors() {
        Random random = new Random(7);
        decomposes(new Matrix(3, 2));
        decomposes(random(random, 6, 2).times(random(random, 2, 4)));
        decomposes(random(random, 3, 1).times(random(random, 1, 5)));
        decomposes(random(random, 4, 4).scaled(1e-200));
        decomposes(random(random, 4, 4).scaled(1e200));
    }

    /** Elements of very different sizes, zeros and repeated values, against which an iteration may stall. */
    @Test
    void awkwardMatricesConverge() {
        Random random = new Random(8);
        for (int trial = 0; trial < 300; trial++) {
            Matrix matrix = new Matrix(1 + random.nextInt(12), 1 + random.nextInt(12));
            fill(matrix, random);
            decomposes(matrix);
            int n = 1 + random.nextInt(12);
            Matrix square = new Matrix(n, n);
            fill(square, random);
            diagonalises(square.mirrored(true));
        }
        Matrix ones = new Matrix(20, 20, constant(400, 1));
        decomposes(ones);
        diagonalises(ones);
        decomposes(Matrix.identity(8));
        diagonalises(Matrix.identity(8).scaled(-3));
        Matrix shift = new Matrix(30, 30);
        for (int i = 1; i < 30; i++) {
            shift.set(i - 1, i, 1);
        }
        decomposes(shift);
    }

    private static double[] constant(int count, double value) {
        double[] values = new double[count];
        Arrays.fill(values, value);
        return values;
    }

    private static void fill(Matrix matrix, Random random) {
        for (int i = 0; i < matrix.rows(); i++) {
            for (int j = 0; j < matrix.columns(); j++) {
                double value = switch (random.nextInt(4)) {
                    case 0 -> random.nextInt(3) - 1;
                    case 1 -> 0;
                    default -> random.nextGaussian() * Math.pow(10, random.nextInt(40) - 20);
                };
                matrix.set(i, j, value);
            }
        }
    }

    private static void diagonalises(Matrix symmetric) {
        SymmetricEigendecomposition spectrum = SymmetricEigendecomposition.of(symmetric, false);
        orthogonal(spectrum.vectors());
        same(symmetric, spectrum.vectors().scaledColumns(spectrum.values()).times(spectrum.vectors().transposed()));
    }

    @Test
    void matricesWithoutElementsHaveEmptySpectra() {
        assertEquals(0, SymmetricEigendecomposition.of(new Matrix(0, 0), true).values().length);
        SingularValueDecomposition tall = SingularValueDecomposition.of(new Matrix(3, 0), true);
        assertEquals(0, tall.values().length);
        same(Matrix.identity(3), tall.left().times(tall.left().transposed()));
        SingularValueDecomposition wide = SingularValueDecomposition.of(new Matrix(0, 2), false);
        assertEquals(0, wide.left().columns());
        assertEquals(2, wide.right().rows());
    }

    @Test
    void elementsThatAreNotFiniteAreRefused() {
        for (double value : new double[]{Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY}) {
            Matrix matrix = Matrix.identity(3);
            matrix.set(2, 0, value);
            refuses(matrix, each -> SymmetricEigendecomposition.of(each, false).vectors());
            refuses(matrix, each -> SingularValueDecomposition.of(each, false).left());
        }
    }

    private static void refuses(Matrix matrix, UnaryOperator<Matrix> function) {
        assertEquals("the matrix has elements that are infinite or not a number",
                assertThrows(IllegalArgumentException.class, () -> function.apply(matrix)).getMessage());
    }
}
