package io.seriatim.graph.op;

import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Computation;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One step of a lowered operation.
 *
 * @param work
 *            what is done
 * @param inputs
 *            what it reads; null for what is left out
 * @param outputs
 *            what it writes; null for what is not wanted
 */
public record Step(Work work, List<@Nullable Operand> inputs, List<@Nullable Operand> outputs) {
    /** Copies the lists. */
    public Step {
        inputs = Collections.unmodifiableList(new ArrayList<>(inputs));
        outputs = Collections.unmodifiableList(new ArrayList<>(outputs));
    }

    /** The work of a step. */
    public sealed interface Work {
        /**
         * A kernel's work.
         *
         * @param computation
         *            which
         */
        record Compute(Computation computation) implements Work {
        }

        /**
         * A Java function on tensors of the host.
         *
         * @param name
         *            for messages and traces
         * @param function
         *            the function
         */
        record Call(String name, HostFunction function) implements Work {
        }
    }

    /**
     * A Java function on tensors of the host, for what is rare, small or depends on values. It may be run by many
     * threads at once.
     */
    @FunctionalInterface
    public interface HostFunction {
        /**
         * Computes.
         *
         * @param inputs
         *            as in the step; they may be views
         * @param outputs
         *            as in the step; they may be views
         * @throws Exception
         *             if it fails
         */
        void run(List<@Nullable Tensor> inputs, List<@Nullable Tensor> outputs) throws Exception;
    }

    /** A function of one result whose gradient can be derived. */
    public interface Differentiable extends HostFunction {
        /**
         * The gradients of the inputs.
         *
         * @param l
         *            where the steps are added that compute them
         * @param inputs
         *            as in the step
         * @param gradient
         *            of the result
         * @return by input; null for 0
         */
        List<@Nullable Operand> gradients(Lowering l, List<@Nullable Operand> inputs, Operand gradient);
    }
}
