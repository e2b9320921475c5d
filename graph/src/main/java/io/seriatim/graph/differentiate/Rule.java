package io.seriatim.graph.differentiate;

import io.seriatim.tensor.kernel.Computation;

/**
 * The gradient of a computation: from the gradients of its results, those of its operands.
 *
 * @param <C>
 *            the computation
 */
@FunctionalInterface
interface Rule<C extends Computation> {
    /** Adds the steps that compute the gradients of the operands, and hands them to the derivative. */
    void differentiate(C computation, Derivative derivative);
}
