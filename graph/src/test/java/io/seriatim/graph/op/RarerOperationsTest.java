package io.seriatim.graph.op;

import static io.seriatim.graph.op.SmallProgram.refused;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.graph.OpDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What the golden data do not say of rarer operations: sums of products by Einstein's notation, and what is refused. */
class RarerOperationsTest {
    private static final Tensor MATRIX = Tensor.of(new double[]{1, 2, 3, 4, 5, 6}, 2, 3);

    private static OpDesc einsum(String equation, String... operands) {
        return OpDesc.of("einsum").in("Operands", operands).out("Out", "y").attr("equation", equation).build();
    }

    @Test
    void einsumMultipliesMatrices() {
        Tensor y = SmallProgram.run(einsum("ij,kj->ki", "a", "b"),
                Map.of("a", MATRIX, "b", Tensor.of(new double[]{1, 0, 1, 0, 2, 0}, 2, 3)), "y");
        assertEquals(Shape.of(2, 2), y.shape());
        assertArrayEquals(new double[]{4, 10, 4, 10}, y.toDoubleArray());
    }

    @Test
    void einsumKeepsWhatAnEllipsisStandsForAndSumsTheRest() {
        Tensor y = SmallProgram.run(einsum("...j,k->...", "a", "b"), Map.of("a", MATRIX, "b", Tensor.of(new double[]{1, 2}, 2)), "y");
        assertArrayEquals(new double[]{18, 45}, y.toDoubleArray());
    }

    @Test
    void theGradientOfWhatOnlyOneOperandHasIsTheSameEverywhere() {
        OpDesc gradient = OpDesc.of("einsum_grad").in("x_shape", "a", "b").in("InnerCache", "a", "b").in("Out@GRAD", "dy")
                .out("Operands@GRAD", "da", "db").attr("equation", "ij,k->i").build();
        Map<String, Tensor> feeds = Map.of("a", MATRIX, "b", Tensor.of(new double[]{1, 2}, 2), "dy", Tensor.of(new double[]{1, 10}, 2));
        assertArrayEquals(new double[]{3, 3, 3, 30, 30, 30}, SmallProgram.run(gradient, feeds, "da").toDoubleArray());
        assertArrayEquals(new double[]{156, 156}, SmallProgram.run(gradient, feeds, "db").toDoubleArray());
    }

    @Test
    void equationsThatDoNotFitAreRefused() {
        refused(einsum("ij,jk->ik", "a"), Map.of("a", MATRIX), "'einsum'", "'ij,jk->ik'", "1 operands");
        refused(einsum("ijk->i", "a"), Map.of("a", MATRIX), "'ijk'", "one for each axis");
        refused(einsum("ii->i", "a"), Map.of("a", MATRIX), "all different");
        refused(einsum("ij->k", "a"), Map.of("a", MATRIX), "labels of the result");
        refused(einsum("ij,jk->ik", "a", "a"), Map.of("a", MATRIX), "label 'j'", "3 and 2");
    }

    @Test
    void indicesBeyondATensorAreRefused() {
        OpDesc put = OpDesc.of("index_put").in("x", "x").in("indices", "i").in("value", "v").out("out", "y").build();
        Tensor value = Tensor.of(new double[]{1}, 1);
        refused(put, Map.of("x", MATRIX, "i", Tensor.of(new long[]{2}, 1), "v", value), "index 2", "axis 0 of length 2");
        refused(put, Map.of("x", MATRIX, "i", Tensor.of(new long[]{0}, 1), "v", Tensor.of(new double[]{1, 2}, 2)), "[2]", "3 chosen");
        refused(put, Map.of("x", MATRIX, "i", value, "v", value), "must be bool, int32 or int64", "float64");
    }

    @Test
    void attributesThatDoNotFitAreRefused() {
        refused(OpDesc.of("crop_tensor").in("X", "a").out("Out", "y").attr("shape", new int[]{2, 2}).attr("offsets", new int[]{0, 2})
                .build(),
                Map.of("a", MATRIX), "2 elements from 2", "axis 1 of length 3");
        refused(OpDesc.of("kldiv_loss").in("X", "a").in("Target", "a").out("Loss", "y").attr("reduction", "median").build(),
                Map.of("a", MATRIX), "'median'");
        refused(OpDesc.of("nll_loss").in("X", "a").in("Label", "l").out("Out", "y").out("Total_weight", "w").build(),
                Map.of("a", MATRIX, "l", Tensor.of(new long[]{0, 1, 2}, 3)), "same batch");
        refused(OpDesc.of("bitwise_not").in("X", "a").out("Out", "y").build(), Map.of("a", MATRIX), "whole numbers or bool");
        refused(OpDesc.of("diagonal").in("Input", "a").out("Out", "y").attr("axis1", 1).attr("axis2", -1).build(), Map.of("a", MATRIX),
                "axis1 and axis2 must differ");
        refused(OpDesc.of("trunc").in("X", "a").out("Out", "y").build(), Map.of("a", Tensor.of(DType.BOOL, new long[]{1}, 1)),
                "bool: cast it");
    }
}
