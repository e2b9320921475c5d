package io.seriatim.onnx.operators;

import io.seriatim.graph.translate.BlockBuilder;
import io.seriatim.graph.translate.Ref;
import io.seriatim.onnx.node.Node;
import io.seriatim.onnx.node.Registry;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Activations with a bias and products with a factor, which ONNX Runtime's optimiser makes. */
public final class FusedOperators {
    private static final float QUICK = 1.702f;

    private FusedOperators() {
    }

    /** Adds the operators. */
    public static void register(Registry operators) {
        one(operators, "Gelu", node -> gelu(node, null, false));
        one(operators, "BiasGelu", node -> gelu(node, node.input(1), false));
        one(operators, "FastGelu", node -> gelu(node, node.maybe(1), true));
        one(operators, "QuickGelu", FusedOperators::quickGelu);
        one(operators, "FusedMatMul", FusedOperators::product);
    }

    private static void one(Registry operators, String type, Function<Node, Ref> translator) {
        operators.add(Registry.MICROSOFT, type, node -> List.of(translator.apply(node)));
    }

    private static Ref gelu(Node node, @Nullable Ref bias, boolean approximate) {
        BlockBuilder block = node.block();
        Ref x = node.input(0);
        Ref sum = bias == null ? x : ElementwiseOperators.apply(block, "elementwise_add", x, bias);
        return block.op("gelu").in("X", sum).attr("approximate", approximate).out("Out");
    }

    /** x / (1 + exp(−alpha · x)). */
    private static Ref quickGelu(Node node) {
        BlockBuilder block = node.block();
        Ref x = node.input(0);
        Ref scaled = ProductOperators.scaled(block, x, node.real("alpha", QUICK));
        return ElementwiseOperators.apply(block, "elementwise_mul", x, block.unary("sigmoid", scaled));
    }

    private static Ref product(Node node) {
        Ref x = batched(node, node.input(0), node.flag("transBatchA", false));
        Ref y = batched(node, node.input(1), node.flag("transBatchB", false));
        Ref product = ProductOperators.product(node.block(), x, y, node.flag("transA", false),
                node.flag("transB", false));
        return ProductOperators.scaled(node.block(), product, node.real("alpha", 1));
    }

    /** The first axis is one of the matrix if the batch is transposed. */
    private static Ref batched(Node node, Ref x, boolean transposed) {
        if (!transposed || x.rank() < 3) {
            return x;
        }
        int[] axes = new int[x.rank()];
        for (int i = 0; i < axes.length - 2; i++) {
            axes[i] = i + 1;
        }
        axes[axes.length - 2] = 0;
        axes[axes.length - 1] = axes.length - 1;
        return node.block().transpose(x, axes);
    }
}
