package io.seriatim.graph.ops.linalg;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.graph.ops.OneOperation;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.kernel.Computation;
import java.util.List;
import org.junit.jupiter.api.Test;

class ProductOperationsTest {
    private static final DType F = DType.FLOAT32;

    private static MatMul product(boolean transposeX, boolean transposeY) {
        return new MatMul(transposeX, transposeY, false, List.of());
    }

    private static OneOperation gradient(boolean transposeX, boolean transposeY, long[] x, long[] y, long... dout) {
        return new OneOperation("matmul_v2_grad").in("X", F, x).in("Y", F, y).in("Out@GRAD", F, dout)
                .attr("trans_x", transposeX)
                .attr("trans_y", transposeY);
    }

    @Test
    void gradientsReadOperandsTransposedWhereTheyAre() {
        long[] x = {2, 3};
        long[] y = {3, 4};
        assertEquals(List.of(product(false, true), product(true, false)),
                gradient(false, false, x, y, 2, 4).out("X@GRAD", "Y@GRAD").computations());
        long[] xt = {3, 2};
        long[] yt = {4, 3};
        assertEquals(List.of(product(true, true), product(true, true)),
                gradient(true, true, xt, yt, 2, 4).out("X@GRAD", "Y@GRAD").computations());
        assertEquals(List.of(product(false, false), product(true, false)),
                gradient(false, true, x, yt, 2, 4).out("X@GRAD", "Y@GRAD").computations());
        assertEquals(List.of(product(false, true), product(false, false)),
                gradient(true, false, xt, y, 2, 4).out("X@GRAD", "Y@GRAD").computations());
    }

    @Test
    void gradientsThatAreNotWantedAreNotComputed() {
        long[] x = {2, 3};
        long[] y = {3, 4};
        assertEquals(List.of(product(true, false)), gradient(false, false, x, y, 2, 4).out("Y@GRAD").computations());
        assertEquals(List.of(product(false, true)), gradient(false, false, x, y, 2, 4).out("X@GRAD").computations());
        List<Computation> second = new OneOperation("matmul_v2_grad_grad").in("X", F, x).in("Y", F, y)
                .in("grad_out", F, 2, 4)
                .in("grad_x@GRAD", F, x).out("grad_out@GRAD").computations();
        assertEquals(List.of(product(false, false)), second);
    }

    @Test
    void theGradientOfSharedWeightsIsOneProduct() {
        assertEquals(List.of(product(true, false)),
                gradient(false, false, new long[]{5, 2, 3}, new long[]{3, 4}, 5, 2, 4).out("Y@GRAD").computations());
    }

    @Test
    void refuses() {
        new OneOperation("matmul_v2").in("X", F, 2, 3).in("Y", F, 4, 5).out("Out").isRefused("columns of X", "3 and 4");
        new OneOperation("matmul_v2").in("X", F).in("Y", F, 4, 5).out("Out").isRefused("at least one dimension");
        new OneOperation("matmul_v2").in("X", F, 2, 3).in("Y", DType.FLOAT64, 3, 5).out("Out").isRefused("one type",
                "float64");
        new OneOperation("matmul_v2").in("X", F, 2, 2, 3).in("Y", F, 5, 3, 4).out("Out").isRefused("do not broadcast");
        new OneOperation("matmul").in("X", F, 2, 2, 3).in("Y", F, 5, 3, 4).out("Out").isRefused("as many matrices",
                "2 and 5");
        new OneOperation("matmul").in("X", F, 2, 3).in("Y", F, 3, 4).out("Out").attr("head_number", 2)
                .isRefused("head_number", "2");
        new OneOperation("mul").in("X", F, 2, 3).in("Y", F, 3, 4).out("Out").attr("x_num_col_dims", 2).isRefused(
                "x_num_col_dims",
                "from 1 to 1");
        new OneOperation("mul").in("X", F, 2, 3, 2).in("Y", F, 5, 4).out("Out").isRefused("6 and 5");
        new OneOperation("bmm").in("X", F, 2, 3, 4).in("Y", F, 4, 2).out("Out").isRefused("three dimensions");
        new OneOperation("bmm").in("X", F, 2, 3, 4).in("Y", F, 3, 4, 2).out("Out").isRefused("2 and 3");
    }
}
