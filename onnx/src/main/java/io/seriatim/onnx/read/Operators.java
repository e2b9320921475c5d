package io.seriatim.onnx.read;

import io.seriatim.onnx.node.Registry;
import io.seriatim.onnx.operators.ConstantOperators;
import io.seriatim.onnx.operators.ElementwiseOperators;

/** The translators of all families. */
final class Operators {
    private static final Registry ALL = registered();

    private Operators() {
    }

    static Registry all() {
        return ALL;
    }

    private static Registry registered() {
        Registry all = new Registry();
        ConstantOperators.register(all);
        ElementwiseOperators.register(all);
        return all;
    }
}
