package io.seriatim.onnx.emit;

import io.seriatim.onnx.emit.OutGraph.OutValue;
import io.seriatim.onnx.proto.ElementTypes;
import io.seriatim.tensor.StagedFiles;
import io.seriatim.tensor.Tensor;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;

/** The bytes of a model. The numbers of fields are those of onnx.proto. */
public final class ModelBytes {
    /** Protobuf has messages of at most 2 GiB; larger models have their tensors in a file of their own. */
    private static final long MOST_INSIDE = 1L << 30;
    /** Tensors of other files begin at pages, so that readers can map them. */
    private static final long PAGE = 4096;
    private static final Map<Integer, Integer> FORMATS = Map.of(17, 8, 18, 8, 19, 9, 20, 9, 21, 10);

    private final Map<String, String> renamed;
    private final String location;
    private final boolean outside;
    private long offset;

    private ModelBytes(Map<String, String> renamed, String location, boolean outside) {
        this.renamed = renamed;
        this.location = location;
        this.outside = outside;
    }

    /**
     * Writes a model: its file and that of its data, or none.
     *
     * @param path
     *            the file
     * @param graph
     *            what the model computes
     * @param opset
     *            the version of ONNX's operators that it uses
     * @throws IOException
     *             if a file cannot be written
     */
    public static void write(Path path, OutGraph graph, int opset) throws IOException {
        graph.prune();
        Map<String, Tensor> tensors = graph.initializers();
        long bytes = 0;
        for (Tensor tensor : tensors.values()) {
            bytes += tensor.spec().bytes();
        }
        String location = path.getFileName() + ".data";
        ModelBytes writer = new ModelBytes(graph.renamed(), location, bytes > MOST_INSIDE);
        WireOutput model = new WireOutput().int64(1, FORMATS.getOrDefault(opset, 10)).text(2, "seriatim")
                .message(7, writer.graph(graph, tensors)).message(8, new WireOutput().text(1, "").int64(2, opset));
        try (StagedFiles staged = StagedFiles.beside(path)) {
            if (writer.outside) {
                staged.write(location, out -> data(new BufferedOutputStream(out), tensors.values()));
            }
            staged.write(String.valueOf(path.getFileName()), model::writeTo);
            staged.publish();
        }
    }

    private String name(String value) {
        return renamed.getOrDefault(value, value);
    }

    private static void data(BufferedOutputStream out, Collection<Tensor> tensors) throws IOException {
        long at = 0;
        for (Tensor tensor : tensors) {
            for (; at % PAGE != 0; at++) {
                out.write(0);
            }
            WireOutput.write(tensor.declared().elements(), out);
            at += tensor.spec().bytes();
        }
        out.flush();
    }

    private WireOutput graph(OutGraph graph, Map<String, Tensor> tensors) {
        WireOutput out = new WireOutput();
        graph.nodes().forEach(node -> out.message(1, node(node)));
        out.text(2, "seriatim");
        tensors.forEach((name, tensor) -> out.message(5, initializer(name(name), tensor)));
        graph.inputs().forEach((name, value) -> out.message(11, value(name(name), value)));
        graph.outputs().forEach((name, value) -> out.message(12, value(name(name), value)));
        return out;
    }

    private WireOutput node(OutNode node) {
        WireOutput out = new WireOutput();
        node.inputs().forEach(input -> out.text(1, name(input)));
        node.outputs().forEach(output -> out.text(2, name(output)));
        out.text(3, node.outputs().isEmpty() ? "" : node.type() + " " + name(node.outputs().getFirst()));
        out.text(4, node.type());
        node.attributes().forEach((name, value) -> out.message(5, attribute(name, value)));
        return out;
    }

    private WireOutput attribute(String name, Object value) {
        WireOutput out = new WireOutput().text(1, name);
        return switch (value) {
            case Long number -> out.int64(3, number).int64(20, 2);
            case Integer number -> out.int64(3, number).int64(20, 2);
            case Float number -> out.float32(2, number).int64(20, 1);
            case String text -> out.text(4, text).int64(20, 3);
            case long[] numbers -> {
                for (long number : numbers) {
                    out.int64(8, number);
                }
                yield out.int64(20, 7);
            }
            case int[] numbers -> {
                for (int number : numbers) {
                    out.int64(8, number);
                }
                yield out.int64(20, 7);
            }
            case float[] numbers -> {
                for (float number : numbers) {
                    out.float32(7, number);
                }
                yield out.int64(20, 6);
            }
            case List<?> texts -> {
                texts.forEach(text -> out.text(9, String.valueOf(text)));
                yield out.int64(20, 8);
            }
            case Tensor tensor -> out.message(5, tensor("", tensor)).int64(20, 4);
            case OutGraph graph -> out.message(6, graph(graph, Map.of())).int64(20, 5);
            default -> throw new IllegalStateException("Attribute " + name + " has a value of " + value.getClass());
        };
    }

    private WireOutput initializer(String name, Tensor tensor) {
        if (!outside) {
            return tensor(name, tensor);
        }
        offset = (offset + PAGE - 1) / PAGE * PAGE;
        WireOutput out = head(name, tensor).message(13, entry("location", location))
                .message(13, entry("offset", Long.toString(offset)))
                .message(13, entry("length", Long.toString(tensor.spec().bytes()))).int64(14, 1);
        offset += tensor.spec().bytes();
        return out;
    }

    private static WireOutput entry(String key, String value) {
        return new WireOutput().text(1, key).text(2, value);
    }

    private static WireOutput head(String name, Tensor tensor) {
        WireOutput out = new WireOutput();
        for (long dim : tensor.shape().dims()) {
            out.int64(1, dim);
        }
        return out.int64(2, ElementTypes.number(tensor.dtype())).text(8, name);
    }

    private static WireOutput tensor(String name, Tensor tensor) {
        return head(name, tensor).raw(9, tensor.declared().elements());
    }

    private static WireOutput value(String name, OutValue value) {
        WireOutput tensor = new WireOutput().int64(1, ElementTypes.number(value.dtype()));
        List<Long> dims = value.dims();
        if (dims != null) {
            WireOutput shape = new WireOutput();
            for (int i = 0; i < dims.size(); i++) {
                WireOutput dim = new WireOutput();
                if (dims.get(i) >= 0) {
                    dim.int64(1, dims.get(i));
                } else if (!value.name(i).isEmpty()) {
                    dim.text(2, value.name(i));
                }
                shape.message(1, dim);
            }
            tensor.message(2, shape);
        }
        return new WireOutput().text(1, name).message(2, new WireOutput().message(1, tensor));
    }
}
