package io.seriatim.benchmarks.onnx;

import io.seriatim.benchmarks.common.PeerUnavailableException;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Converts an inference network to an ONNX model in the usual form: a product with its bias becomes one Gemm, and a
 * convolution includes its bias. Only the operations of the compared networks are supported.
 */
final class OnnxTranslation {
    private final Block block;
    private final Map<String, Tensor> parameters;
    private final OnnxGraph graph = new OnnxGraph();
    private final Set<String> used = new LinkedHashSet<>();
    /**
     * The operations without a node of their own, by result: reshaped parameters, and products whose bias has not been
     * seen yet.
     */
    private final Map<String, OpDesc> held = new HashMap<>();

    private OnnxTranslation(Program program, Map<String, Tensor> parameters) {
        this.block = program.global();
        this.parameters = parameters;
    }

    static byte[] of(Program program, Map<String, Tensor> parameters, String fed, String fetched)
            throws PeerUnavailableException {
        return new OnnxTranslation(program, parameters).translate(fed, fetched);
    }

    private byte[] translate(String fed, String fetched) throws PeerUnavailableException {
        List<OpDesc> ops = block.ops();
        for (int i = 0; i < ops.size(); i++) {
            OpDesc op = ops.get(i);
            boolean biased = i + 1 < ops.size() && isBias(ops.get(i + 1), op);
            boolean biasedLater = i + 2 < ops.size() && isBias(ops.get(i + 2), op);
            translate(op, biased || biasedLater);
        }
        for (String name : used) {
            graph.parameter(name, Objects.requireNonNull(parameters.get(name)));
        }
        return graph.input(fed, dims(fed)).output(fetched, dims(fetched)).model();
    }

    private long[] dims(String name) {
        return Objects.requireNonNull(block.get(name).type().tensorType()).shape();
    }

    /**
     * Returns whether an operation adds a parameter, possibly reshaped, to the result of a product or a convolution.
     */
    private boolean isBias(OpDesc op, OpDesc product) {
        if (!op.type().equals("elementwise_add") || !op.input("X").equals(result(product))) {
            return false;
        }
        String bias = op.input("Y").getFirst();
        return switch (product.type()) {
            case "matmul_v2" -> parameters.containsKey(bias);
            case "conv2d" -> block.ops().stream().anyMatch(
                    each -> each.type().equals("reshape2") && each.output("Out").contains(bias)
                            && parameters.containsKey(each.input("X").getFirst()));
            default -> false;
        };
    }

    private static List<String> result(OpDesc op) {
        return op.type().equals("conv2d") ? op.output("Output") : op.output("Out");
    }

    private void translate(OpDesc op, boolean biased) throws PeerUnavailableException {
        switch (op.type()) {
            case "matmul_v2", "conv2d" -> {
                if (biased) {
                    held.put(result(op).getFirst(), op);
                } else {
                    product(op, null, result(op).getFirst());
                }
            }
            case "reshape2" -> held.put(op.output("Out").getFirst(), op);
            case "elementwise_add" -> add(op);
            case "relu" -> graph.node("Relu", op.input("X"), op.output("Out").getFirst());
            case "flatten_contiguous_range" -> graph.node("Flatten", op.input("X"), op.output("Out").getFirst());
            case "pool2d" -> pool(op);
            case "batch_norm" -> graph.node("BatchNormalization",
                    List.of(op.input("X").getFirst(), parameter(op, "Scale"),
                            parameter(op, "Bias"), parameter(op, "Mean"), parameter(op, "Variance")),
                    op.output("Y").getFirst(),
                    OnnxGraph.Attribute.of("epsilon", real(op, "epsilon")));
            default -> throw new PeerUnavailableException("operation " + op.type() + " is not translated to ONNX");
        }
    }

    private void add(OpDesc op) throws PeerUnavailableException {
        OpDesc product = held.get(op.input("X").getFirst());
        String other = op.input("Y").getFirst();
        OpDesc reshaped = held.get(other);
        if (product == null) {
            graph.node("Add", List.of(op.input("X").getFirst(), other), op.output("Out").getFirst());
        } else {
            product(product, reshaped == null ? other : reshaped.input("X").getFirst(), op.output("Out").getFirst());
        }
    }

    private void product(OpDesc op, @Nullable String bias, String output) {
        boolean convolution = op.type().equals("conv2d");
        List<String> inputs = new ArrayList<>(op.input(convolution ? "Input" : "X"));
        inputs.add(parameter(op, convolution ? "Filter" : "Y"));
        if (bias != null) {
            used.add(bias);
            inputs.add(bias);
        }
        if (convolution) {
            long[] filter = dims(op.input("Filter").getFirst());
            graph.node("Conv", inputs, output, OnnxGraph.Attribute.of("kernel_shape", filter[2], filter[3]),
                    OnnxGraph.Attribute.of("strides", both(op, "strides")), OnnxGraph.Attribute.of("pads", pads(op)));
        } else {
            graph.node(bias == null ? "MatMul" : "Gemm", inputs, output);
        }
    }

    private void pool(OpDesc op) throws PeerUnavailableException {
        boolean all = op.attribute("adaptive") instanceof Attribute.Bool(boolean adaptive) && adaptive;
        boolean largest = op.attribute("pooling_type") instanceof Attribute.Text(String type) && type.equals("max");
        if (all && !largest) {
            graph.node("GlobalAveragePool", op.input("X"), op.output("Out").getFirst());
        } else if (largest && !all) {
            graph.node("MaxPool", op.input("X"), op.output("Out").getFirst(),
                    OnnxGraph.Attribute.of("kernel_shape", both(op, "ksize")),
                    OnnxGraph.Attribute.of("strides", both(op, "strides")),
                    OnnxGraph.Attribute.of("pads", pads(op)));
        } else {
            throw new PeerUnavailableException("this kind of pooling is not translated to ONNX: " + op);
        }
    }

    private String parameter(OpDesc op, String slot) {
        String name = op.input(slot).getFirst();
        used.add(name);
        return name;
    }

    private static float real(OpDesc op, String name) {
        return switch (op.attribute(name)) {
            case Attribute.Real(float value) -> value;
            case null, default ->
                throw new IllegalArgumentException("Attribute '" + name + "' must be a real number: " + op);
        };
    }

    private static long[] both(OpDesc op, String name) {
        return switch (op.attribute(name)) {
            case Attribute.Ints(List<Integer> values) -> values.stream().mapToLong(Integer::longValue).toArray();
            case null, default ->
                throw new IllegalArgumentException("Attribute '" + name + "' must be whole numbers: " + op);
        };
    }

    /** Before all dimensions, then after all. */
    private static long[] pads(OpDesc op) {
        long[] padding = both(op, "paddings");
        return new long[]{padding[0], padding[1], padding[0], padding[1]};
    }
}
