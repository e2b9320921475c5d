package io.seriatim.onnx.emit;

import io.seriatim.graph.dialect.TargetSchema;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Objects;

/** ONNX's own schemas of its operators. */
final class OnnxSchema {
    private static final String RESOURCE = "onnx.txt";

    private OnnxSchema() {
    }

    private static final class Loaded {
        static final TargetSchema SCHEMA = read();

        private Loaded() {
        }

        private static TargetSchema read() {
            try (InputStream in = Objects.requireNonNull(OnnxSchema.class.getResourceAsStream(RESOURCE), RESOURCE)) {
                return new TargetSchema("ONNX", false, in);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    static TargetSchema get() {
        return Loaded.SCHEMA;
    }

    /** The value of a node's attribute. */
    static TargetSchema.Value value(Object attribute) {
        return switch (attribute) {
            case Long _,Integer _ -> new TargetSchema.Value("int64", null);
            case Float _ -> new TargetSchema.Value("float32", null);
            case String text -> new TargetSchema.Value("text", text);
            case long[] _,int[] _ -> new TargetSchema.Value("int64s", null);
            case float[] _ -> new TargetSchema.Value("float32s", null);
            case List<?> _ -> new TargetSchema.Value("texts", null);
            case Tensor _ -> new TargetSchema.Value("tensor", null);
            case OutGraph _ -> new TargetSchema.Value("graph", null);
            default -> throw new IllegalStateException("No attribute of ONNX is a " + attribute.getClass());
        };
    }
}
