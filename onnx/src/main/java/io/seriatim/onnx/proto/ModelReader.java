package io.seriatim.onnx.proto;

import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.Shape;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads the messages of ONNX's file format. The numbers of fields are those of onnx.proto. */
public final class ModelReader {
    /** The most graphs within graphs. */
    private static final int DEEPEST = 64;

    private int depth;

    private ModelReader() {
    }

    /**
     * Reads a model.
     *
     * @param source
     *            the file's name, for messages
     * @param memory
     *            its bytes; the tensors of the model are views of it
     * @return the model
     * @throws FileFormatException
     *             if it is not a model; the message gives the byte offset
     */
    public static OnnxModel read(String source, MemorySegment memory) throws FileFormatException {
        return new ModelReader().model(new WireInput(source, memory, 0));
    }

    /**
     * Reads a tensor that is a file of its own.
     *
     * @param source
     *            the file's name, for messages
     * @param memory
     *            its bytes, of which the tensor is a view
     * @return the tensor
     * @throws FileFormatException
     *             if it is not a tensor; the message gives the byte offset
     */
    public static OnnxTensor readTensor(String source, MemorySegment memory) throws FileFormatException {
        return new ModelReader().tensor(new WireInput(source, memory, 0));
    }

    private OnnxModel model(WireInput in) throws FileFormatException {
        long version = 0;
        OnnxGraph graph = null;
        Map<String, Long> opsets = new LinkedHashMap<>();
        List<OnnxFunction> functions = new ArrayList<>();
        for (int field = in.next(); field != 0; field = in.next()) {
            switch (field) {
                case 1 -> version = in.int64();
                case 7 -> graph = graph(in.message());
                case 8 -> opset(in.message(), opsets);
                case 25 -> functions.add(function(in.message()));
                default -> in.skip();
            }
        }
        if (graph == null) {
            throw in.error("a model of ONNX has a graph, but the file has none: it is cut off or of another kind");
        }
        return new OnnxModel(version, graph, opsets, functions);
    }

    private static void opset(WireInput in, Map<String, Long> opsets) throws FileFormatException {
        String domain = "";
        long version = 0;
        for (int field = in.next(); field != 0; field = in.next()) {
            switch (field) {
                case 1 -> domain = in.text();
                case 2 -> version = in.int64();
                default -> in.skip();
            }
        }
        opsets.put(domain.equals("ai.onnx") ? "" : domain, version);
    }

    private OnnxFunction function(WireInput in) throws FileFormatException {
        String name = "";
        String domain = "";
        List<String> inputs = new ArrayList<>();
        List<String> outputs = new ArrayList<>();
        List<String> attributes = new ArrayList<>();
        Map<String, OnnxAttribute> defaults = new LinkedHashMap<>();
        List<OnnxNode> nodes = new ArrayList<>();
        Map<String, Long> opsets = new LinkedHashMap<>();
        for (int field = in.next(); field != 0; field = in.next()) {
            switch (field) {
                case 1 -> name = in.text();
                case 4 -> inputs.add(in.text());
                case 5 -> outputs.add(in.text());
                case 6 -> attributes.add(in.text());
                case 7 -> nodes.add(node(in.message()));
                case 9 -> opset(in.message(), opsets);
                case 10 -> domain = in.text();
                case 11 -> attribute(in.message(), defaults);
                default -> in.skip();
            }
        }
        return new OnnxFunction(name, domain, inputs, outputs, attributes, defaults, nodes, opsets);
    }

    private OnnxGraph graph(WireInput in) throws FileFormatException {
        if (++depth > DEEPEST) {
            throw in.error("graphs lie in each other at most " + DEEPEST + " deep");
        }
        List<OnnxNode> nodes = new ArrayList<>();
        String name = "";
        List<OnnxTensor> initializers = new ArrayList<>();
        List<OnnxSparseTensor> sparse = new ArrayList<>();
        List<OnnxValue> inputs = new ArrayList<>();
        List<OnnxValue> outputs = new ArrayList<>();
        List<OnnxValue> values = new ArrayList<>();
        for (int field = in.next(); field != 0; field = in.next()) {
            switch (field) {
                case 1 -> nodes.add(node(in.message()));
                case 2 -> name = in.text();
                case 5 -> initializers.add(tensor(in.message()));
                case 11 -> inputs.add(value(in.message()));
                case 12 -> outputs.add(value(in.message()));
                case 13 -> values.add(value(in.message()));
                case 15 -> sparse.add(sparse(in.message()));
                default -> in.skip();
            }
        }
        depth--;
        return new OnnxGraph(name, nodes, initializers, sparse, inputs, outputs, values);
    }

    private OnnxNode node(WireInput in) throws FileFormatException {
        List<String> inputs = new ArrayList<>();
        List<String> outputs = new ArrayList<>();
        String name = "";
        String type = "";
        String domain = "";
        Map<String, OnnxAttribute> attributes = new LinkedHashMap<>();
        for (int field = in.next(); field != 0; field = in.next()) {
            switch (field) {
                case 1 -> inputs.add(in.text());
                case 2 -> outputs.add(in.text());
                case 3 -> name = in.text();
                case 4 -> type = in.text();
                case 5 -> attribute(in.message(), attributes);
                case 7 -> domain = in.text();
                default -> in.skip();
            }
        }
        return new OnnxNode(name, domain.equals("ai.onnx") ? "" : domain, type, inputs, outputs, attributes);
    }

    private void attribute(WireInput in, Map<String, OnnxAttribute> into) throws FileFormatException {
        String name = "";
        String reference = "";
        int type = 0;
        float real = 0;
        long integer = 0;
        String text = "";
        OnnxTensor tensor = null;
        OnnxGraph graph = null;
        OnnxSparseTensor sparse = null;
        OnnxType valueType = null;
        Longs reals = new Longs();
        Longs integers = new Longs();
        List<String> texts = new ArrayList<>();
        List<OnnxTensor> tensors = new ArrayList<>();
        List<OnnxGraph> graphs = new ArrayList<>();
        for (int field = in.next(); field != 0; field = in.next()) {
            switch (field) {
                case 1 -> name = in.text();
                case 2 -> real = in.float32();
                case 3 -> integer = in.int64();
                case 4 -> text = in.text();
                case 5 -> tensor = tensor(in.message());
                case 6 -> graph = graph(in.message());
                case 7 -> in.fixed32s(reals);
                case 8 -> in.int64s(integers);
                case 9 -> texts.add(in.text());
                case 10 -> tensors.add(tensor(in.message()));
                case 11 -> graphs.add(graph(in.message()));
                case 14 -> valueType = type(in.message());
                case 20 -> type = in.int32();
                case 21 -> reference = in.text();
                case 22 -> sparse = sparse(in.message());
                default -> in.skip();
            }
        }
        if (!reference.isEmpty()) {
            into.put(name, new OnnxAttribute.OfFunction(reference));
            return;
        }
        // Files of the first version do not say which field counts.
        int kind = type != 0
                ? type
                : tensor != null
                        ? 4
                        : graph != null
                                ? 5
                                : !text.isEmpty()
                                        ? 3
                                        : reals.size() > 0
                                                ? 6
                                                : integers.size() > 0
                                                        ? 7
                                                        : !texts.isEmpty() ? 8 : Float.compare(real, 0) == 0 ? 2 : 1;
        OnnxAttribute value = switch (kind) {
            case 1 -> new OnnxAttribute.Real(real);
            case 2 -> new OnnxAttribute.Int(integer);
            case 3 -> new OnnxAttribute.Text(text);
            case 4 -> new OnnxAttribute.OfTensor(there(in, name, tensor));
            case 5 -> new OnnxAttribute.OfGraph(there(in, name, graph));
            case 6 -> new OnnxAttribute.Reals(floats(reals));
            case 7 -> new OnnxAttribute.Ints(list(integers));
            case 8 -> new OnnxAttribute.Texts(texts);
            case 9 -> new OnnxAttribute.Tensors(tensors);
            case 10 -> new OnnxAttribute.Graphs(graphs);
            case 11 -> new OnnxAttribute.OfSparse(there(in, name, sparse));
            case 13 -> new OnnxAttribute.OfType(there(in, name, valueType));
            default -> throw in.error("attribute '" + name + "' has a value of kind " + kind + ", which is not known");
        };
        into.put(name, value);
    }

    private static <T> T there(WireInput in, String name, @Nullable T value) throws FileFormatException {
        if (value == null) {
            throw in.error("attribute '" + name + "' has no value of the kind that it says");
        }
        return value;
    }

    private static List<Float> floats(Longs bits) {
        List<Float> floats = new ArrayList<>();
        for (long each : bits.toArray()) {
            floats.add(Float.intBitsToFloat((int) each));
        }
        return floats;
    }

    private static List<Long> list(Longs values) {
        List<Long> list = new ArrayList<>();
        for (long each : values.toArray()) {
            list.add(each);
        }
        return list;
    }

    private OnnxTensor tensor(WireInput in) throws FileFormatException {
        Longs dims = new Longs();
        int element = 0;
        Longs numbers = new Longs();
        List<String> texts = new ArrayList<>();
        String name = "";
        MemorySegment raw = null;
        Map<String, String> external = new LinkedHashMap<>();
        boolean isExternal = false;
        for (int field = in.next(); field != 0; field = in.next()) {
            switch (field) {
                case 1 -> in.int64s(dims);
                case 2 -> element = in.int32();
                case 4 -> in.fixed32s(numbers);
                case 5, 7, 11 -> in.int64s(numbers);
                case 6 -> texts.add(in.text());
                case 8 -> name = in.text();
                case 9 -> raw = in.bytes();
                case 10 -> in.fixed64s(numbers);
                case 13 -> entry(in.message(), external);
                case 14 -> isExternal = in.int32() == 1;
                default -> in.skip();
            }
        }
        requireRank(in, "tensor '" + name + "'", dims.size());
        return new OnnxTensor(name, element, list(dims), raw, numbers, texts,
                isExternal ? external : null);
    }

    private static void requireRank(WireInput in, String what, long rank) throws FileFormatException {
        if (rank > Shape.MAX_RANK) {
            throw in.error(what + " has " + rank + " dimensions, but a tensor has at most " + Shape.MAX_RANK);
        }
    }

    private static void entry(WireInput in, Map<String, String> into) throws FileFormatException {
        String key = "";
        String value = "";
        for (int field = in.next(); field != 0; field = in.next()) {
            switch (field) {
                case 1 -> key = in.text();
                case 2 -> value = in.text();
                default -> in.skip();
            }
        }
        into.put(key, value);
    }

    private OnnxSparseTensor sparse(WireInput in) throws FileFormatException {
        OnnxTensor values = null;
        OnnxTensor indices = null;
        Longs dims = new Longs();
        for (int field = in.next(); field != 0; field = in.next()) {
            switch (field) {
                case 1 -> values = tensor(in.message());
                case 2 -> indices = tensor(in.message());
                case 3 -> in.int64s(dims);
                default -> in.skip();
            }
        }
        if (values == null || indices == null) {
            throw in.error("a sparse tensor has values and indices");
        }
        requireRank(in, "sparse tensor '" + values.name() + "'", dims.size());
        return new OnnxSparseTensor(values, indices, list(dims));
    }

    private OnnxValue value(WireInput in) throws FileFormatException {
        String name = "";
        OnnxType type = null;
        for (int field = in.next(); field != 0; field = in.next()) {
            switch (field) {
                case 1 -> name = in.text();
                case 2 -> type = type(in.message());
                default -> in.skip();
            }
        }
        if (type instanceof OnnxType.OfTensor(int _, List<OnnxType.Dim> dims) && dims != null) {
            requireRank(in, "value '" + name + "'", dims.size());
        }
        return new OnnxValue(name, type);
    }

    private OnnxType type(WireInput in) throws FileFormatException {
        if (++depth > DEEPEST) {
            throw in.error("types lie in each other at most " + DEEPEST + " deep");
        }
        OnnxType type = new OnnxType.Other("undefined");
        for (int field = in.next(); field != 0; field = in.next()) {
            switch (field) {
                case 1 -> type = tensorType(in.message());
                case 4 -> type = new OnnxType.Sequence(element(in.message()));
                case 5 -> type = new OnnxType.Other("map");
                case 8 -> type = new OnnxType.Other("sparse tensor");
                case 9 -> type = new OnnxType.Optional(element(in.message()));
                default -> in.skip();
            }
            if (field == 5 || field == 8) {
                in.skip();
            }
        }
        depth--;
        return type;
    }

    private OnnxType element(WireInput in) throws FileFormatException {
        OnnxType type = new OnnxType.Other("undefined");
        for (int field = in.next(); field != 0; field = in.next()) {
            if (field == 1) {
                type = type(in.message());
            } else {
                in.skip();
            }
        }
        return type;
    }

    private static OnnxType tensorType(WireInput in) throws FileFormatException {
        int element = 0;
        List<OnnxType.Dim> dims = null;
        for (int field = in.next(); field != 0; field = in.next()) {
            switch (field) {
                case 1 -> element = in.int32();
                case 2 -> dims = shape(in.message());
                default -> in.skip();
            }
        }
        return new OnnxType.OfTensor(element, dims);
    }

    private static List<OnnxType.Dim> shape(WireInput in) throws FileFormatException {
        List<OnnxType.Dim> dims = new ArrayList<>();
        for (int field = in.next(); field != 0; field = in.next()) {
            if (field == 1) {
                dims.add(dim(in.message()));
            } else {
                in.skip();
            }
        }
        return dims;
    }

    private static OnnxType.Dim dim(WireInput in) throws FileFormatException {
        long size = -1;
        String parameter = "";
        for (int field = in.next(); field != 0; field = in.next()) {
            switch (field) {
                case 1 -> size = in.int64();
                case 2 -> parameter = in.text();
                default -> in.skip();
            }
        }
        return new OnnxType.Dim(size < 0 ? -1 : size, parameter);
    }
}
