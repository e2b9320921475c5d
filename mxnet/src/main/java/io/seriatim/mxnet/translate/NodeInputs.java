package io.seriatim.mxnet.translate;

import io.seriatim.mxnet.read.SymbolNode;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A node with the variables of its inputs, as a translator sees it. */
final class NodeInputs {
    private final Importer importer;
    private final SymbolNode node;
    private final List<String> variables;
    private final AttributeMap attributes;

    NodeInputs(Importer importer, SymbolNode node, List<String> variables) {
        this.importer = importer;
        this.node = node;
        this.variables = variables;
        attributes = new AttributeMap(node.attributes());
    }

    SymbolNode node() {
        return node;
    }

    AttributeMap attributes() {
        return attributes;
    }

    /** Appends operations. */
    Ops ops() {
        return importer.ops();
    }

    OpWriter op(String type) {
        return ops().op(type);
    }

    int count() {
        return variables.size();
    }

    List<String> all() {
        return variables;
    }

    /** The variable of an input. */
    String in(int index) {
        if (index >= variables.size()) {
            throw new IllegalArgumentException("there must be at least " + (index + 1) + " inputs, but there are "
                    + variables.size());
        }
        return variables.get(index);
    }

    /** The dimensions of a variable, −1 where unknown. */
    long[] dims(String variable) {
        return importer.writer().dims(variable);
    }

    int rank(String variable) {
        for (int i = 0; i < variables.size(); i++) {
            Integer certain = variables.get(i).equals(variable) ? importer.certainRank(node.inputs().get(i)) : null;
            if (certain != null) {
                return certain;
            }
        }
        return dims(variable).length;
    }

    DType dtype(String variable) {
        return importer.writer().dtype(variable);
    }

    /** An axis of a variable, from 0. */
    int axis(String variable, int axis) {
        if (axis >= 0) {
            // The operation checks it; the result does not depend on the number of dimensions.
            return axis;
        }
        int rank = rank(variable);
        if (axis < -rank) {
            throw new IllegalArgumentException("the axis " + axis + " is not one of the " + rank
                    + " dimensions of '" + variable + "'");
        }
        return axis + rank;
    }

    /** The node that computes an input. */
    SymbolNode producer(int input) {
        return importer.node(node.inputs().get(input).node());
    }

    /** A node with its inputs, as it was translated. */
    NodeInputs inputsOf(SymbolNode other) {
        return importer.inputs(other);
    }

    /** The value of an input that is a parameter; null if it is none. */
    @Nullable
    Tensor parameter(int input) {
        return importer.parameter(in(input));
    }

    /** Adds a parameter that is trained. */
    String parameter(String name, Tensor value) {
        return importer.writer().known(importer.writer().model().parameter(name, value));
    }

    /** Adds a constant, whose name is made of a hint. */
    String constant(String hint, Tensor value) {
        return importer.writer().known(importer.writer().model().constant(hint, value));
    }

    /** The dimensions of a constant of which some are unknown, and stored as 1; null for other variables. */
    long @Nullable [] openDims(String variable) {
        return importer.openDims(variable);
    }

    /** The elements of such a constant. */
    double openValue(String variable) {
        return importer.openValue(variable);
    }

    /** Whether the number of dimensions of an input is an assumption, so that results should not depend on it. */
    boolean isGuessing() {
        return importer.isGuessing();
    }

    /** Says that a variable stands for a constant of which dimensions that are 0 are not known. */
    void open(String variable, double value, long... dims) {
        importer.open(variable, value, dims);
    }

    /** An error in what the node asks for. */
    IllegalArgumentException unsupported(String what) {
        return new IllegalArgumentException(what);
    }
}
