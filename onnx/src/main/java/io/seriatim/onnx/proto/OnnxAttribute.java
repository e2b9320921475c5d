package io.seriatim.onnx.proto;

import java.util.List;

/** The value of an attribute. */
public sealed interface OnnxAttribute {
    /** A floating-point number. */
    record Real(float value) implements OnnxAttribute {
    }

    /** A whole number. */
    record Int(long value) implements OnnxAttribute {
    }

    /** A text. */
    record Text(String value) implements OnnxAttribute {
    }

    /** A tensor. */
    record OfTensor(OnnxTensor value) implements OnnxAttribute {
    }

    /** A tensor of which most elements are 0. */
    record OfSparse(OnnxSparseTensor value) implements OnnxAttribute {
    }

    /** A graph that the node runs. */
    record OfGraph(OnnxGraph value) implements OnnxAttribute {
    }

    /** The type of a value. */
    record OfType(OnnxType value) implements OnnxAttribute {
    }

    /** Floating-point numbers. */
    record Reals(List<Float> value) implements OnnxAttribute {
    }

    /** Whole numbers. */
    record Ints(List<Long> value) implements OnnxAttribute {
    }

    /** Texts. */
    record Texts(List<String> value) implements OnnxAttribute {
    }

    /** Graphs. */
    record Graphs(List<OnnxGraph> value) implements OnnxAttribute {
    }

    /** Tensors. */
    record Tensors(List<OnnxTensor> value) implements OnnxAttribute {
    }

    /**
     * The value of an attribute of the function that the node is part of.
     *
     * @param name
     *            the function's attribute
     */
    record OfFunction(String name) implements OnnxAttribute {
    }
}
