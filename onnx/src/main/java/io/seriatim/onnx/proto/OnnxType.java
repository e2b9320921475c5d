package io.seriatim.onnx.proto;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** The type of a value. */
public sealed interface OnnxType {
    /**
     * A tensor.
     *
     * @param element
     *            the number of the type of its elements
     * @param dims
     *            null if its rank is not known
     */
    record OfTensor(int element, @Nullable List<Dim> dims) implements OnnxType {
    }

    /**
     * A list of values.
     *
     * @param element
     *            their type
     */
    record Sequence(OnnxType element) implements OnnxType {
    }

    /**
     * A value or none.
     *
     * @param element
     *            its type
     */
    record Optional(OnnxType element) implements OnnxType {
    }

    /**
     * A type that is not supported.
     *
     * @param name
     *            for messages
     */
    record Other(String name) implements OnnxType {
    }

    /**
     * A dimension.
     *
     * @param size
     *            −1 if unknown
     * @param parameter
     *            the name that unknown dimensions of the same size share; empty if it has none
     */
    record Dim(long size, String parameter) {
    }
}
