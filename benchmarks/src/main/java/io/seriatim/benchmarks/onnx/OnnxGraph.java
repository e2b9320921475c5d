package io.seriatim.benchmarks.onnx;

import io.seriatim.tensor.Tensor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/** Writes a model in ONNX format, with the field numbers of {@code onnx.proto}. All numbers are float32. */
final class OnnxGraph {
    private static final int IR_VERSION = 8;
    private static final int OPERATOR_SET = 17;
    private static final int FLOAT = 1;

    private final ProtobufMessage graph = new ProtobufMessage().text(2, "network");

    /** An attribute of a node. */
    record Attribute(ProtobufMessage message) {
        private static final int TYPE_FLOAT = 1;
        private static final int TYPE_INTS = 7;

        static Attribute of(String name, long... values) {
            return new Attribute(new ProtobufMessage().text(1, name).numbers(8, values).number(20, TYPE_INTS));
        }

        static Attribute of(String name, float value) {
            return new Attribute(new ProtobufMessage().text(1, name).real(2, value).number(20, TYPE_FLOAT));
        }
    }

    OnnxGraph node(String operator, List<String> inputs, String output, Attribute... attributes) {
        ProtobufMessage node = new ProtobufMessage();
        inputs.forEach(input -> node.text(1, input));
        node.text(2, output).text(4, operator);
        for (Attribute attribute : attributes) {
            node.message(5, attribute.message);
        }
        graph.message(1, node);
        return this;
    }

    OnnxGraph parameter(String name, Tensor value) {
        float[] values = value.toFloatArray();
        ByteBuffer raw = ByteBuffer.allocate(values.length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        raw.asFloatBuffer().put(values);
        graph.message(5, new ProtobufMessage().numbers(1, value.shape().dims()).number(2, FLOAT).text(8, name).raw(9,
                raw.array()));
        return this;
    }

    OnnxGraph input(String name, long... dims) {
        graph.message(11, value(name, dims));
        return this;
    }

    OnnxGraph output(String name, long... dims) {
        graph.message(12, value(name, dims));
        return this;
    }

    private static ProtobufMessage value(String name, long... dims) {
        ProtobufMessage shape = new ProtobufMessage();
        for (long dim : dims) {
            shape.message(1, new ProtobufMessage().number(1, dim));
        }
        ProtobufMessage tensor = new ProtobufMessage().number(1, FLOAT).message(2, shape);
        return new ProtobufMessage().text(1, name).message(2, new ProtobufMessage().message(1, tensor));
    }

    byte[] model() {
        return new ProtobufMessage().number(1, IR_VERSION).message(7, graph)
                .message(8, new ProtobufMessage().number(2, OPERATOR_SET))
                .toByteArray();
    }
}
