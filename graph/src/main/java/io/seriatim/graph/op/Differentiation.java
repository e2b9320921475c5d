package io.seriatim.graph.op;

import java.util.Map;

/**
 * Derives gradients that no schema defines: it lowers an operation again and differentiates its steps in reverse. Found
 * as a service.
 */
public interface Differentiation {
    /**
     * Where a gradient operation has what belongs to the operation whose gradient it is.
     *
     * @param values
     *            by slot of the operation, input or output, the input slot that holds the same variables
     * @param incoming
     *            by output slot of the operation, the input slot of its gradients
     * @param outgoing
     *            by input slot of the operation, the output slot of its gradients
     */
    record Bindings(Map<String, String> values, Map<String, String> incoming, Map<String, String> outgoing) {
        /** Copies the maps. */
        public Bindings {
            values = Map.copyOf(values);
            incoming = Map.copyOf(incoming);
            outgoing = Map.copyOf(outgoing);
        }
    }

    /**
     * The lowering of a gradient operation.
     *
     * @param forward
     *            the operation whose gradient it is
     * @param bindings
     *            the slots
     * @return the rule; it fails if a step has no gradient, with a message that names the operation and the step
     */
    Lowering.Rule lowering(Operation forward, Bindings bindings);
}
