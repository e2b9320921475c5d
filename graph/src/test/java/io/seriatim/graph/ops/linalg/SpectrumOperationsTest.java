package io.seriatim.graph.ops.linalg;

import static io.seriatim.graph.ops.SmallProgram.refused;
import static io.seriatim.graph.ops.SmallProgram.run;
import static io.seriatim.tensor.DType.FLOAT32;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.numerics.Matrix;
import io.seriatim.graph.numerics.Spectrum;
import io.seriatim.graph.ops.OneOperation;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Eigenvalues and singular values with their vectors: what they multiply to, their order, matrices of lower rank, and
 * what is refused.
 */
class SpectrumOperationsTest {
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
            Spectrum spectrum = Spectrum.symmetric(symmetric, n % 2 == 0);
            Matrix vectors = spectrum.left();
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
            Spectrum spectrum = Spectrum.singular(matrix, full);
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

    /** Paddle 2.6.2 gives the gradients of the first matrix's eigenvalues to all. */
    @Test
    void gradientsOfEigenvaluesAreThoseOfTheirOwnMatrices() {
        double turn = Math.sqrt(0.5);
        double[] both = {1, 0, 0, 1, turn, turn, -turn, turn};
        Map<String, Tensor> feeds = Map.of("v", Tensor.of(both, 2, 2, 2), "dw",
                Tensor.of(new double[]{1, 2, 3, 5}, 2, 2), "w",
                Tensor.of(new double[]{0, 1, 0, 1}, 2, 2), "dv", Tensor.of(new double[8], 2, 2, 2));
        double[] expected = {1, 0, 0, 2, 4, 1, 1, 4};
        OpDesc values = OpDesc.of("eigvalsh_grad").in("Eigenvectors", "v").in("Eigenvalues@GRAD", "dw")
                .out("X@GRAD", "dx").build();
        assertArrayEquals(expected, run(values, feeds, "dx").toDoubleArray(), BOUND);
        OpDesc all = OpDesc.of("eigh_grad").in("Eigenvectors", "v").in("Eigenvalues@GRAD", "dw").in("Eigenvalues", "w")
                .in("Eigenvectors@GRAD", "dv").out("X@GRAD", "dx").build();
        assertArrayEquals(expected, run(all, feeds, "dx").toDoubleArray(), BOUND);
    }

    @Test
    void equalEigenvaluesHaveGradientsWhereVectorsHaveNone() {
        OpDesc gradient = OpDesc.of("eigh_grad").in("Eigenvectors", "v").in("Eigenvalues@GRAD", "dw")
                .in("Eigenvalues", "w")
                .in("Eigenvectors@GRAD", "dv").out("X@GRAD", "dx").build();
        Map<String, Tensor> feeds = Map.of("v", Tensor.of(new double[]{1, 0, 0, 1}, 2, 2), "dw",
                Tensor.of(new double[]{3, 4}, 2), "w",
                Tensor.of(new double[]{2, 2}, 2), "dv", Tensor.of(new double[4], 2, 2));
        assertArrayEquals(new double[]{3, 0, 0, 4}, run(gradient, feeds, "dx").toDoubleArray(), BOUND);
    }

    @Test
    void rankOfNothing() {
        OpDesc rank = OpDesc.of("matrix_rank").in("X", "x").out("Out", "y").build();
        assertEquals(0, run(rank, Map.of("x", Tensor.of(new double[6], 2, 3)), "y").toLongArray()[0]);
    }

    @Test
    void matricesThatHaveNoSpectrumAreRefused() {
        Map<String, Tensor> feeds = Map.of("x", Tensor.of(new double[]{1, Double.NaN, 0, 1}, 2, 2));
        OpDesc eigh = OpDesc.of("eigh").in("X", "x").out("Eigenvalues", "w").out("Eigenvectors", "v").attr("UPLO", "U")
                .build();
        refused(eigh, feeds, "'eigh', matrix 0 of 1", "infinite or not a number");
        OpDesc svd = OpDesc.of("svd").in("X", "x").out("U", "u").out("S", "s").out("VH", "v").build();
        refused(svd, feeds, "'svd', matrix 0 of 1", "infinite or not a number");
        new OneOperation("eigh").in("X", FLOAT32, 2, 2).out("Eigenvalues", "Eigenvectors").attr("UPLO", "T")
                .isRefused("UPLO must be L or U", "'T'");
        new OneOperation("eigvalsh").in("X", FLOAT32, 2, 3).out("Eigenvalues", "Eigenvectors")
                .isRefused("must be square");
        new OneOperation("svd").in("X", FLOAT32, 3).out("U", "S", "VH").isRefused("X needs at least two dimensions");
        new OneOperation("matrix_rank").in("X", FLOAT32, 2, 3).out("Out").attr("hermitian", true)
                .isRefused("must be square");
    }
}
