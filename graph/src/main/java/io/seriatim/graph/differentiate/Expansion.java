package io.seriatim.graph.differentiate;

import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.tensor.kernel.Computation;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A computation written with simpler ones, which are differentiated in its place: that gives the gradients of gradients
 * without a rule of their own.
 *
 * @param <C>
 *            the computation
 */
@FunctionalInterface
interface Expansion<C extends Computation> {
    /**
     * Adds the steps, and returns the results in the order of the computation's outputs; null for what they leave out.
     */
    List<@Nullable Operand> expand(C computation, Lowering l, List<@Nullable Operand> inputs);
}
