package io.seriatim.executor.pass;

import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.Stage;
import org.jspecify.annotations.Nullable;

/**
 * Elementwise operations one after the other become one pass over memory, as far as each costs next to nothing and
 * gives the same bits in company as alone. Those of which only one reads the other are joined here, together with what
 * is done to products; all others later, in {@link ElementwiseGroups}.
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
