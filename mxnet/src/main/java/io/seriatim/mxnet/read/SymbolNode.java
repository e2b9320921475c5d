package io.seriatim.mxnet.read;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A node of a symbol: a variable or an operator.
 *
 * @param index
 *            its place in the file, from 0
 * @param operator
 *            the operator's name, {@link #VARIABLE} for a variable
 * @param name
 *            its name
 * @param attributes
 *            the operator's parameters and the annotations of users, as text
 * @param inputs
 *            what it reads, in order; always outputs of earlier nodes
 */
public record SymbolNode(int index, String operator, String name, Map<String, String> attributes,
        List<SymbolEntry> inputs) {
    /** The operator of a variable. */
    public static final String VARIABLE = "null";

    /** Copies the collections. */
    public SymbolNode {
        attributes = Collections.unmodifiableMap(new LinkedHashMap<>(attributes));
        inputs = List.copyOf(inputs);
    }

    /**
     * Whether it is a variable: an input of the network, a parameter or a state.
     *
     * @return false for operators
     */
    public boolean isVariable() {
        return operator.equals(VARIABLE);
    }

    @Override
    public String toString() {
        return "node " + index + " '" + name + "' (" + (isVariable() ? "variable" : operator) + ")";
    }
}
