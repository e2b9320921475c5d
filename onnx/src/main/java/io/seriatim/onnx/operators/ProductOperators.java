package io.seriatim.onnx.operators;

import io.seriatim.graph.translate.BlockBuilder;
import io.seriatim.graph.translate.Ref;
import io.seriatim.onnx.node.Node;
import io.seriatim.onnx.node.Registry;

/** Products of matrices, sums of products, and determinants. */
public final class ProductOperators {
    private ProductOperators() {
    }

    /** Adds the operators. */
    public static void register(Registry operators) {
        operators.one("MatMul", n -> product(n.block(), n.input(0), n.input(1), false, false));
        operators.one("Gemm", ProductOperators::gemm);
        operators.one("Einsum", n -> n.op("einsum").in("Operands", n.inputs(0))
                .attr("equation", n.text("equation", "").replace(" ", "")).out("Out"));
        operators.one("Det", n -> {
            Ref x = n.input(0);
            Ref precise = n.block().cast(x, Steps.precise(x.dtype()));
            return n.block().cast(n.block().op("determinant").in("Input", precise).out("Out"), x.dtype());
        });
    }

    static Ref product(BlockBuilder block, Ref x, Ref y, boolean transposeX, boolean transposeY) {
        return block.op("matmul_v2").in("X", x).in("Y", y).attr("trans_x", transposeX).attr("trans_y", transposeY)
                .out("Out");
    }

    private static Ref gemm(Node node) {
        BlockBuilder block = node.block();
        Ref product = scaled(block, product(block, node.input(0), node.input(1), node.flag("transA", false),
                node.flag("transB", false)), node.real("alpha", 1));
        Ref addend = node.maybe(2);
        return addend == null || node.real("beta", 1) == 0
                ? product
                : ElementwiseOperators.apply(block, "elementwise_add", product,
                        scaled(block, addend, node.real("beta", 1)));
    }

    static Ref scaled(BlockBuilder block, Ref x, float factor) {
        return factor == 1 ? x : block.op("scale").in("X", x).attr("scale", factor).attr("bias", 0).out("Out");
    }
}
