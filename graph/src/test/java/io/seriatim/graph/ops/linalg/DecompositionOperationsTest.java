package io.seriatim.graph.ops.linalg;

import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.FLOAT64;
import static io.seriatim.tensor.DType.INT64;

import io.seriatim.graph.ops.OneOperation;
import org.junit.jupiter.api.Test;

/** The arguments that QR decompositions and their gradients refuse. */
class DecompositionOperationsTest {
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
