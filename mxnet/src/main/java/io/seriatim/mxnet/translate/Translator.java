package io.seriatim.mxnet.translate;

import java.util.List;

/** Makes operations of an operator. */
@FunctionalInterface
interface Translator {
    /**
     * Appends the operations of a node.
     *
     * @param node
     *            the node, with its inputs' variables
     * @return the variables of its visible outputs, in order
     * @throws IllegalArgumentException
     *             if the attributes or shapes are such that it cannot be translated; the message says why
     */
    List<String> translate(NodeInputs node);
}
