package io.seriatim.graph.differentiate;

import io.seriatim.tensor.kernel.Computation;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The rules by computation. A computation has a {@link Rule} or an {@link Expansion}. */
final class Rules {
    private static final Map<Class<?>, Rule<?>> RULES = new HashMap<>();
    private static final Map<Class<?>, Expansion<?>> EXPANSIONS = new HashMap<>();

    static {
        ComplexRules.register();
        ElementwiseRules.register();
        SlopeExpansions.register();
        ReductionRules.register();
        IndexRules.register();
        ProductRules.register();
        SoftmaxRules.register();
        NormalisationRules.register();
        NormalisationExpansions.register();
        PoolingRules.register();
        RegionRules.register();
    }

    private Rules() {
    }

    static <C extends Computation> void rule(Class<C> type, Rule<? super C> rule) {
        RULES.put(type, rule);
    }

    static <C extends Computation> void expand(Class<C> type, Expansion<? super C> expansion) {
        EXPANSIONS.put(type, expansion);
    }

    /** The rule of a computation; null if it has none. */
    @SuppressWarnings("unchecked") // Registered with the class.
    static @Nullable Rule<Computation> rule(Computation computation) {
        return (Rule<Computation>) RULES.get(computation.getClass());
    }

    /** What a computation is written with; null if it has a rule of its own or none. */
    @SuppressWarnings("unchecked") // Registered with the class.
    static @Nullable Expansion<Computation> expansion(Computation computation) {
        return Epilogues.isPlain(computation)
                ? (Expansion<Computation>) EXPANSIONS.get(computation.getClass())
                : Epilogues::expand;
    }
}
