package io.seriatim.onnx.read;

import io.seriatim.graph.translate.Ref;
import io.seriatim.onnx.node.Lists;
import io.seriatim.onnx.proto.OnnxAttribute;
import io.seriatim.onnx.proto.OnnxNode;
import io.seriatim.onnx.proto.OnnxTensor;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The numbers of constants with one element, of rank 0 or 1; null for other values. */
final class Scalars implements Function<String, @Nullable Double> {
    /** More than a tensor has dimensions. */
    private static final int MOST = 16;

    private final Map<String, OnnxNode> constants = new HashMap<>();
    private final Function<String, @Nullable Ref> values;
    private final Function<Ref, @Nullable Tensor> tensors;
    private final Function<OnnxTensor, Tensor> reader;

    /**
     * @param nodes
     *            some of which may be constants
     * @param values
     *            gives the value of a name; null if there is none so far
     * @param tensors
     *            gives the tensor of an initialiser that cannot be fed; null for other values
     * @param reader
     *            reads the tensors of constants
     */
    Scalars(List<OnnxNode> nodes, Function<String, @Nullable Ref> values,
            Function<Ref, @Nullable Tensor> tensors, Function<OnnxTensor, Tensor> reader) {
        this.values = values;
        this.tensors = tensors;
        this.reader = reader;
        for (OnnxNode node : nodes) {
            if (node.type().equals("Constant") && node.domain().isEmpty() && node.outputs().size() == 1) {
                constants.put(node.outputs().getFirst(), node);
            }
        }
    }

    @Override
    public @Nullable Double apply(String name) {
        OnnxNode node = constants.get(name);
        return node != null && node.attributes().get("value_float") instanceof OnnxAttribute.Real(float number)
                ? Double.valueOf(number)
                : number(tensor(name, 1));
    }

    /** Returns the numbers of a constant row of whole numbers; none for other values. */
    List<Long> integers(String name) {
        Tensor value = tensor(name, MOST);
        return value == null || value.shape().rank() > 1 || value.shape().size() > MOST
                || value.dtype() != DType.INT64 ? List.of() : Arrays.stream(value.toLongArray()).boxed().toList();
    }

    /** Returns a constant; null if it is none, or a node of more elements, which are not read. */
    private @Nullable Tensor tensor(String name, int most) {
        OnnxNode node = constants.get(name);
        if (node == null) {
            Ref ref = values.apply(name);
            return ref == null || !Lists.isTensor(ref) ? null : tensors.apply(ref);
        }
        return node.attributes().get("value") instanceof OnnxAttribute.OfTensor(OnnxTensor tensor)
                && tensor.dims().size() <= 1 && tensor.dims().stream().allMatch(dim -> dim <= most)
                        ? reader.apply(tensor)
                        : null;
    }

    private static @Nullable Double number(@Nullable Tensor value) {
        return value == null || value.shape().rank() > 1 || value.shape().size() != 1 || value.dtype() == DType.BOOL
                || value.dtype().isComplex() ? null : Double.valueOf(value.toDoubleArray()[0]);
    }
}
