package io.seriatim.onnx.operators;

import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.translate.BlockBuilder;
import io.seriatim.graph.translate.ModelBuilder;
import io.seriatim.graph.translate.Ref;
import io.seriatim.onnx.node.Graphs;
import io.seriatim.onnx.node.Lists;
import io.seriatim.onnx.node.Node;
import io.seriatim.onnx.node.Registry;
import io.seriatim.onnx.proto.OnnxAttribute;
import io.seriatim.onnx.proto.OnnxGraph;
import io.seriatim.onnx.proto.OnnxNode;
import io.seriatim.onnx.proto.OnnxTensor;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** A node that is translated alone and run on given operands. */
final class OneOperator {
    private final Registry registry = new Registry();
    private final String domain;
    private final String type;
    private final long version;
    private final Map<String, OnnxAttribute> attributes = new HashMap<>();
    private boolean constants;
    private boolean trained;
    private boolean unknown;

    OneOperator(Consumer<Registry> family, String domain, String type, long version) {
        family.accept(registry);
        this.domain = domain;
        this.type = type;
        this.version = version;
    }

    static OneOperator of(Consumer<Registry> family, String type, long version) {
        return new OneOperator(family, "", type, version);
    }

    OneOperator integer(String name, long value) {
        attributes.put(name, new OnnxAttribute.Int(value));
        return this;
    }

    OneOperator real(String name, double value) {
        attributes.put(name, new OnnxAttribute.Real((float) value));
        return this;
    }

    OneOperator text(String name, String value) {
        attributes.put(name, new OnnxAttribute.Text(value));
        return this;
    }

    OneOperator texts(String name, String... values) {
        attributes.put(name, new OnnxAttribute.Texts(List.of(values)));
        return this;
    }

    OneOperator integers(String name, Long... values) {
        attributes.put(name, new OnnxAttribute.Ints(List.of(values)));
        return this;
    }

    /** All operands but the first are constants of the model. */
    OneOperator withConstants() {
        constants = true;
        return this;
    }

    /** Dimensions of operands are not known before the run. */
    OneOperator withUnknownDimensions() {
        unknown = true;
        return this;
    }

    private record NoGraphs(Lists lists) implements Graphs {
        @Override
        public List<Ref> translate(OnnxGraph graph, BlockBuilder block, List<Ref> operands) {
            throw new UnsupportedOperationException("a node alone has no graphs");
        }

        @Override
        public Tensor read(OnnxTensor tensor) {
            throw new UnsupportedOperationException("a node alone has no tensors");
        }
    }

    /** The first result. */
    Tensor run(@Nullable Tensor... operands) {
        return runAll(1, operands).getFirst();
    }

    /** Results in order. */
    List<Tensor> runAll(int results, @Nullable Tensor... operands) {
        Map<String, Tensor> feeds = new LinkedHashMap<>();
        List<String> names = names(results);
        try (InferenceModel model = model(names, feeds, operands)) {
            Interpreter interpreter = Interpreter.of(Kernels.system());
            model.parameters().forEach(interpreter::set);
            Map<String, Tensor> found = interpreter.run(model.program(), feeds, names);
            return names.stream().map(name -> Objects.requireNonNull(found.get(name), name)).toList();
        }
    }

    /** The operations that it becomes. */
    List<String> types(@Nullable Tensor... operands) {
        try (InferenceModel model = model(names(1), new LinkedHashMap<>(), operands)) {
            return model.program().blocks().stream().flatMap(block -> block.ops().stream()).map(OpDesc::type).toList();
        }
    }

    /** A model of which the first operand is a feed and the others are parameters; its fetches are y0, y1 and so on. */
    InferenceModel withParameters(int results, @Nullable Tensor... operands) {
        trained = true;
        return model(names(results), new LinkedHashMap<>(), operands);
    }

    private static List<String> names(int results) {
        return IntStream.range(0, results).mapToObj(i -> "y" + i).toList();
    }

    private InferenceModel model(List<String> names, Map<String, Tensor> feeds, @Nullable Tensor... operands) {
        ModelBuilder builder = new ModelBuilder();
        List<@Nullable Ref> refs = new ArrayList<>();
        for (int i = 0; i < operands.length; i++) {
            Tensor operand = operands[i];
            if (operand == null) {
                refs.add(null);
            } else if (trained && i > 0) {
                refs.add(builder.parameter("c" + i, Tensor.of(operand.toFloatArray(), operand.shape().dims())));
            } else if (constants && i > 0) {
                refs.add(builder.constant("c" + i, operand));
            } else {
                feeds.put("x" + i, operand);
                long[] dims = operand.shape().dims();
                if (unknown) {
                    Arrays.fill(dims, -1);
                }
                refs.add(builder.feed("x" + i, operand.dtype(), dims));
            }
        }
        OnnxNode node = new OnnxNode("", domain, type, refs.stream().map(ref -> ref == null ? "" : ref.name()).toList(),
                names, attributes);
        List<Ref> translated = Objects.requireNonNull(registry.find(domain, type), type)
                .translate(new Node(node, version, refs, attributes, builder.main(), new NoGraphs(new Lists(builder))));
        Map<String, Ref> outputs = new LinkedHashMap<>();
        names.forEach(name -> outputs.put(name, translated.get(outputs.size())));
        return builder.build(outputs);
    }
}
