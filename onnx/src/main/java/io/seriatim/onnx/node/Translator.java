package io.seriatim.onnx.node;

import io.seriatim.graph.translate.Ref;
import java.util.List;

/** Translates a node into operations of the program. */
@FunctionalInterface
public interface Translator {
    /**
     * Appends what computes the results of a node.
     *
     * @return the results in the node's order; those at the end may be missing if the node does not want them
     */
    List<Ref> translate(Node node);
}
