package io.seriatim.onnx.read;

import io.seriatim.onnx.node.Node;

/** A model would become too large, whatever its conditions are. */
final class LimitException extends IllegalArgumentException {
    private static final long serialVersionUID = 1;
    /** The most conditions that are known in a block. */
    private static final int MOST_CONDITIONS = 24;
    /** The most nodes that are translated because types of values depend on conditions. */
    private static final int MOST_REPEATED = 4_000;

    LimitException(String message) {
        super(message);
    }

    /**
     * Checks that nodes are not repeated too often.
     *
     * @param node
     *            the node that is translated once for each truth of a condition
     * @param conditions
     *            how many are known where it stands
     * @param repeated
     *            how many nodes are repeated so far, with this one
     */
    static void check(Node node, int conditions, int repeated) {
        if (conditions >= MOST_CONDITIONS || repeated > MOST_REPEATED) {
            throw new LimitException(node + ": nodes that read values whose numbers of dimensions depend on conditions "
                    + "of Ifs are translated once for each combination of them, but these would be more than "
                    + (conditions >= MOST_CONDITIONS ? MOST_CONDITIONS + " conditions" : MOST_REPEATED + " nodes")
                    + "; reshape these values to known numbers of dimensions before");
        }
    }
}
