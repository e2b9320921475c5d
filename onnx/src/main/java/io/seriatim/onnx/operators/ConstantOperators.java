package io.seriatim.onnx.operators;

import io.seriatim.graph.translate.Ref;
import io.seriatim.onnx.node.Node;
import io.seriatim.onnx.node.Registry;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.List;
import java.util.Objects;

/** Values that are part of the model. */
public final class ConstantOperators {
    private ConstantOperators() {
    }

    /** Adds the operators. */
    public static void register(Registry operators) {
        operators.one("Constant", ConstantOperators::constant);
        operators.one("Identity", node -> Objects.requireNonNullElseGet(node.any(0), () -> node.input(0)));
    }

    private static Ref constant(Node node) {
        Tensor value = value(node);
        return node.block().model().constant("constant", value);
    }

    private static Tensor value(Node node) {
        Tensor tensor = node.tensor("value");
        if (tensor != null) {
            return tensor;
        }
        if (node.hasAttribute("value_int")) {
            return Tensor.of(DType.INT64, new long[]{node.integer("value_int", 0)});
        }
        if (node.hasAttribute("value_float")) {
            return Tensor.of(new float[]{node.real("value_float", 0)});
        }
        long[] integers = node.integers("value_ints");
        if (integers != null) {
            return Tensor.of(integers, integers.length);
        }
        List<Float> reals = node.reals("value_floats");
        if (reals != null) {
            float[] values = new float[reals.size()];
            for (int i = 0; i < values.length; i++) {
                values[i] = reals.get(i);
            }
            return Tensor.of(values, values.length);
        }
        throw node.error("needs one of the attributes value, value_int, value_ints, value_float, value_floats; others "
                + "are not supported");
    }
}
