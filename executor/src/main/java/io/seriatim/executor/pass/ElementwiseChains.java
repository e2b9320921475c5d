package io.seriatim.executor.pass;

import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.Stage;
import org.jspecify.annotations.Nullable;

/**
 * Fuses consecutive elementwise operations into one pass over memory, if each is cheap and computes the same bits in a
 * chain as alone. This rule of {@link Fusion} handles an operation whose result has a single reader;
 * {@link ElementwiseGroups} later handles all others.
 */
final class ElementwiseChains implements Fusion.Rule {
    @Override
    public @Nullable Stage joined(Stage first, Stage second, int input) {
        ElementwiseChain before = ElementwiseChain.of(first);
        ElementwiseChain after = ElementwiseChain.of(second);
        Arg between = first.outputs().getFirst();
        if (before == null || after == null || between == null || !before.shape().equals(after.shape())
                || !between.equals(second.inputs().get(input))) {
            return null;
        }
        ElementwiseChain both = before.then(after);
        return both == null ? null : both.without(between).stage(second.access());
    }
}
