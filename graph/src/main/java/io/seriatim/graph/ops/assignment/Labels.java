package io.seriatim.graph.ops.assignment;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.LodSlot;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.ops.common.ComputedOutputs;
import io.seriatim.graph.ops.common.Given;
import java.util.function.Function;

/** Operations whose results depend on the values and offsets of their inputs. */
final class Labels {
    private Labels() {
    }

    /**
     * Completes a schema: the values and offsets of inputs are known when a run infers the shapes of the results, which
     * are then computed.
     *
     * @param atBuild
     *            infers while a program is built, and checks the shapes of the inputs
     * @param divided
     *            the inputs with offsets
     */
    static Operation.Builder define(Operation.Builder operation, String[] inputs, String[] divided, String[] outputs,
            Inference.Rule atBuild, Function<Given, ComputedOutputs> rule) {
        operation.readsLod(divided).makesLod(outputs).sharesNoLod();
        for (String slot : divided) {
            operation.values(LodSlot.of(slot));
        }
        return Given.rules(operation, atBuild::infer, rule, inputs);
    }
}
