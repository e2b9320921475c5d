package io.seriatim.graph.ops.linalg;

import static io.seriatim.graph.ops.SmallProgram.refused;
import static io.seriatim.graph.ops.SmallProgram.run;
import static io.seriatim.tensor.DType.FLOAT32;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.graph.ops.OneOperation;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.Tensor;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Gradients of eigenvalues, ranks, and the arguments that the operations on spectra refuse. */
class SpectrumOperationsTest {
    private static final double BOUND = 1e-12;

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
