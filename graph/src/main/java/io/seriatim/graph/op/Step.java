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

    /** The gradients of a Java function's inputs. */
    @FunctionalInterface
    public interface Gradients {
        /**
         * Adds the steps that compute them.
         *
         * @param l
         *            where the steps go
         * @param inputs
         *            as in the step
         * @param outputs
         *            as in the step
         * @param gradients
         *            of the outputs; null for 0
         * @return by input; null for 0
         */
        List<@Nullable Operand> of(Lowering l, List<Operand> inputs, List<Operand> outputs,
                List<@Nullable Operand> gradients);
    }

    /** Steps that give what a Java function does. */
    @FunctionalInterface
    public interface Equivalent {
        /**
         * Adds the steps.
         *
         * @param l
         *            where the steps go
         * @param inputs
         *            as in the step
         * @return by output
         */
        List<Operand> of(Lowering l, List<Operand> inputs);
    }

    /**
     * A Java function with its gradient.
     *
     * @param function
     *            the function
     * @param gradients
     *            its gradient
     */
    public record Differentiable(HostFunction function, Gradients gradients) implements HostFunction {
        @Override
        public void run(List<@Nullable Tensor> inputs, List<@Nullable Tensor> outputs) throws Exception {
            function.run(inputs, outputs);
        }
    }

    /**
     * A Java function with steps that are differentiated in its place.
     *
     * @param function
     *            the function, which is faster than the steps
     * @param steps
     *            the steps
     */
    public record Expandable(HostFunction function, Equivalent steps) implements HostFunction {
        @Override
        public void run(List<@Nullable Tensor> inputs, List<@Nullable Tensor> outputs) throws Exception {
            function.run(inputs, outputs);
        }
    }
}
