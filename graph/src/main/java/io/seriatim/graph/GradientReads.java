package io.seriatim.graph;

import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;

/** Which variables of the forward program gradients read: whoever overwrites one of these makes the gradient wrong. */
final class GradientReads {
    private GradientReads() {
    }

    /** Whether the gradient of an operation, or of those in the blocks that it runs, reads the value of a variable. */
    static boolean mayRead(Program program, OpDesc op, String name) {
        int inner = ControlGradients.block(op);
        if (inner >= 0) {
            return program.block(inner).ops().stream().anyMatch(each -> mayRead(program, each, name));
        }
        if (!op.inputNames().contains(name) && !op.outputNames().contains(name)) {
            return false;
        }
        Operation schema = Operations.system().find(op.type());
        GradientRule rule = schema == null ? null : schema.gradient();
        return rule != null && rule.make(op, _ -> true).stream().anyMatch(gradient -> reads(gradient, name));
    }

    /** Of some inputs only type and shape count. */
    static boolean reads(OpDesc gradient, String name) {
        Operation schema = Operations.system().find(gradient.type());
        return gradient.inputs().entrySet().stream()
                .anyMatch(each -> each.getValue().contains(name) && (schema == null || !schema.shapesOnly().contains(each.getKey())));
    }
}
