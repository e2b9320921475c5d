package io.seriatim.onnx.operators;

import io.seriatim.graph.translate.Ref;
import io.seriatim.onnx.node.Node;
import io.seriatim.onnx.node.Registry;

/** Functions of single elements. */
public final class ElementwiseOperators {
    private ElementwiseOperators() {
    }

    /** Adds the operators. */
    public static void register(Registry operators) {
        operators.one("Relu", n -> unary(n, "relu"));
        operators.one("Sigmoid", n -> unary(n, "sigmoid"));
        operators.one("Tanh", n -> unary(n, "tanh"));
        operators.one("Add", n -> binary(n, "elementwise_add"));
        operators.one("Sub", n -> binary(n, "elementwise_sub"));
        operators.one("Mul", n -> binary(n, "elementwise_mul"));
    }

    private static Ref unary(Node node, String type) {
        return node.block().unary(type, node.input(0));
    }

    private static Ref binary(Node node, String type) {
        return node.block().binary(type, node.input(0), node.input(1));
    }
}
