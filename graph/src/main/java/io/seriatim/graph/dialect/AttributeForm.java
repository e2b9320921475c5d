package io.seriatim.graph.dialect;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.VarType;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Attributes of which several values mean the same here, while PaddlePaddle computes it with one of them only. */
final class AttributeForm {
    /** The attribute with the order of an image's dimensions, of which the kernels know NCHW and NHWC for any rank. */
    private static final Map<String, String> LAYOUTS = layouts();

    private AttributeForm() {
    }

    private static Map<String, String> layouts() {
        Map<String, String> layouts = new LinkedHashMap<>();
        for (String kind : List.of("linear", "bilinear", "trilinear", "bicubic", "nearest")) {
            layouts.put(kind + "_interp", "data_layout");
            layouts.put(kind + "_interp_v2", "data_layout");
        }
        layouts.put("group_norm", "data_layout");
        layouts.put("conv2d_transpose", "data_format");
        layouts.put("conv3d_transpose", "data_format");
        layouts.put("depthwise_conv2d_transpose", "data_format");
        return Map.copyOf(layouts);
    }

    /** The operation with the values that PaddlePaddle knows. */
    static OpDesc of(OpDesc op, Steps steps) {
        Operation schema = Operations.system().find(op.type());
        if (schema == null) {
            return op;
        }
        Attrs attrs = new Attrs(op, schema);
        String layout = LAYOUTS.get(op.type());
        if (layout != null) {
            String given = attrs.getText(layout);
            String known = given.length() > 1 && given.endsWith("C") ? "NHWC" : "NCHW";
            OpDesc named = given.equals(known) ? op : op.with(layout, known);
            return op.type().endsWith("_interp_v2") ? scaled(named, attrs, rank(op, "X", steps) - 2) : named;
        }
        return switch (op.type()) {
            case "cumsum", "logcumsumexp" -> attrs.getBool("flatten") && attrs.getInt("axis") != -1
                    ? op.with("axis", -1)
                    : op;
            case "arg_max", "arg_min" -> attrs.getBool("keepdims") && rank(op, "X", steps) == 0
                    ? op.with("keepdims", false)
                    : op;
            // In the order of their size is one of the orders that may be.
            case "top_k_v2" -> attrs.getBool("sorted") ? op : op.with("sorted", true);
            // PaddlePaddle 2 reduces the named axes only.
            case "reduce_amax", "reduce_amin" -> attrs.getBool("reduce_all") && rank(op, "X", steps) > 0
                    ? op.with("dim", IntStream.range(0, rank(op, "X", steps)).toArray())
                    : op;
            case "uniform_random", "gaussian_random", "randint" -> ofAttribute(op, attrs);
            // PaddlePaddle leaves the memory as it was allocated, where it is filled with zeros here.
            case "coalesce_tensor" -> attrs.getBool("copy_data") || attrs.getBool("set_constant")
                    ? op
                    : op.with("set_constant", true).with("constant", 0f);
            case "softmax_with_cross_entropy" -> attrs.getBool("numeric_stable_mode")
                    ? op
                    : op.with("numeric_stable_mode", true);
            default -> masterless(op, schema, attrs);
        };
    }

    /** One scale for all axes is not read by all kernels. */
    private static OpDesc scaled(OpDesc op, Attrs attrs, int spatial) {
        double[] scales = attrs.getDoubles("scale");
        if (scales.length == 0 || scales.length >= spatial) {
            return op;
        }
        float[] all = new float[spatial];
        for (int i = 0; i < spatial; i++) {
            all[i] = (float) scales[Math.min(i, scales.length - 1)];
        }
        return op.with("scale", all);
    }

    /** PaddlePaddle 2 takes the shape of the attribute before that of one tensor. */
    private static OpDesc ofAttribute(OpDesc op, Attrs attrs) {
        if (op.input("ShapeTensor").isEmpty() || !op.input("ShapeTensorList").isEmpty()
                || attrs.getLongs("shape").length == 0) {
            return op;
        }
        Map<String, List<String>> inputs = new LinkedHashMap<>(op.inputs());
        inputs.remove("ShapeTensor");
        return op.with(inputs, op.outputs());
    }

    private static int rank(OpDesc op, String slot, Steps steps) {
        VarType.@Nullable TensorType tensor = steps.known(op.input(slot).getFirst());
        return tensor == null ? -1 : tensor.dims().size();
    }

    /** Without parameters of higher precision there is nothing that the flag could mean; kernels crash. */
    private static OpDesc masterless(OpDesc op, Operation schema, Attrs attrs) {
        boolean has = schema.attribute("multi_precision") != null
                && schema.inputs().stream().anyMatch(slot -> slot.name().equals("MasterParam"));
        if (!has || !op.input("MasterParam").isEmpty() || !attrs.getBool("multi_precision")) {
            return op;
        }
        Map<String, List<String>> outputs = new LinkedHashMap<>(op.outputs());
        outputs.keySet().removeAll(Set.of("MasterParamOut"));
        return op.with("multi_precision", false).with(op.inputs(), outputs);
    }
}
