package io.seriatim.graph.differentiate;

import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.ops.common.Term;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.network.BatchNormGrad;
import io.seriatim.tensor.computation.network.GroupNormGrad;
import io.seriatim.tensor.computation.network.LayerNormGrad;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The gradients of normalisations, as formulas of x, dy, the scale, and mean and variance, which count as inputs of
 * their own: with x̂ = (x − mean) · r and g = dy · scale, dx = r · (g − mean(g) − x̂ · mean(g · x̂)).
 */
final class NormalisationExpansions {
    private NormalisationExpansions() {
    }

    static void register() {
        Rules.expand(LayerNormGrad.class, NormalisationExpansions::layer);
        Rules.expand(GroupNormGrad.class, NormalisationExpansions::group);
        Rules.expand(BatchNormGrad.class, NormalisationExpansions::batch);
    }

    /**
     * The formulas.
     *
     * @param together
     *            the axes of elements that have a mean in common
     * @param scaled
     *            the axes of elements that have a scale in common
     */
    private record Formula(Lowering l, Operand x, Operand dy, @Nullable Operand scale, Operand mean, Term inverse,
            List<Integer> together, List<Integer> scaled) {
        private Term term(Operand operand) {
            return new Term(l, l.cast(operand, mean.dtype()));
        }

        private Term reduced(Reduction.Function function, Term values, List<Integer> axes) {
            return axes.isEmpty() ? values : new Term(l, l.run(new Reduction(function, axes, true), values.operand()));
        }

        private Term mean(Term values) {
            return reduced(Reduction.Function.MEAN, values, together);
        }

        Term normal() {
            return term(x).minus(new Term(l, mean)).times(inverse);
        }

        private Term weighted() {
            Operand factor = scale;
            return factor == null ? term(dy) : term(dy).times(term(factor));
        }

        Operand dx() {
            Term g = weighted();
            Term centred = g.minus(mean(g)).minus(normal().times(mean(g.times(normal()))));
            return centred.times(inverse).operand();
        }

        /** Where mean and variance do not depend on x. */
        Operand dxOfGiven() {
            return weighted().times(inverse).operand();
        }

        Operand dscale(long... dims) {
            return l.reshape(reduced(Reduction.Function.SUM, term(dy).times(normal()), scaled).operand(), dims);
        }

        Operand dbias(long... dims) {
            return l.reshape(reduced(Reduction.Function.SUM, term(dy), scaled).operand(), dims);
        }
    }

    private static Term inverse(Lowering l, Operand variance, float epsilon) {
        return new Term(l, l.unary(Unary.Function.RSQRT, new Term(l, variance).linear(1, epsilon).operand()));
    }

    private static Operand required(List<@Nullable Operand> in, int index) {
        return Objects.requireNonNull(in.get(index), "an operand of a normalisation's gradient");
    }

    private static List<@Nullable Operand> layer(LayerNormGrad grad, Lowering l, List<@Nullable Operand> in) {
        Operand x = required(in, 0);
        int axis = x.shape().axis(grad.forward().axis());
        long rows = x.shape().slice(0, axis).size();
        long length = x.shape().slice(axis, x.rank()).size();
        boolean scale = grad.forward().scale();
        int at = scale ? 3 : 2;
        Formula formula = new Formula(l, l.reshape(x, rows, length), l.reshape(required(in, 1), rows, length),
                scale ? l.reshape(required(in, 2), 1, length) : null, l.reshape(required(in, at), rows, 1),
                inverse(l, l.reshape(required(in, at + 1), rows, 1), grad.forward().epsilon()), List.of(1),
                List.of(0));
        return results(formula, x, scale, grad.forward().bias(), length);
    }

    private static List<@Nullable Operand> results(Formula formula, Operand x, boolean scale, boolean bias,
            long length) {
        List<@Nullable Operand> results = new ArrayList<>();
        results.add(formula.l().reshape(formula.dx(), x.shape().dims()));
        if (scale) {
            results.add(formula.dscale(length));
        }
        if (bias) {
            results.add(formula.dbias(length));
        }
        return results;
    }

    private static List<@Nullable Operand> group(GroupNormGrad grad, Lowering l, List<@Nullable Operand> in) {
        Operand x = required(in, 0);
        int groups = grad.forward().groups();
        long images = x.dim(0);
        long channels = x.dim(1) / groups;
        long pixels = x.shape().slice(2, x.rank()).size();
        boolean scale = grad.forward().scale();
        int at = scale ? 3 : 2;
        Formula formula = new Formula(l, l.reshape(x, images, groups, channels, pixels),
                l.reshape(required(in, 1), images, groups, channels, pixels),
                scale ? l.reshape(required(in, 2), 1, groups, channels, 1) : null,
                l.reshape(required(in, at), images, groups, 1, 1),
                inverse(l, l.reshape(required(in, at + 1), images, groups, 1, 1), grad.forward().epsilon()),
                List.of(2, 3), List.of(0, 3));
        return results(formula, x, scale, grad.forward().bias(), x.dim(1));
    }

    private static List<@Nullable Operand> batch(BatchNormGrad grad, Lowering l, List<@Nullable Operand> in) {
        Operand x = required(in, 0);
        int rank = x.rank();
        List<Integer> others = IntStream.range(0, rank).filter(axis -> axis != 1).boxed().toList();
        Operand spread = NormalisationRules.channels(l, required(in, 4), rank);
        boolean training = grad.forward().training();
        Formula formula = new Formula(l, x, required(in, 1), NormalisationRules.channels(l, required(in, 2), rank),
                NormalisationRules.channels(l, required(in, 3), rank),
                training ? new Term(l, spread) : inverse(l, spread, grad.forward().epsilon()), others, others);
        return List.of(training ? formula.dx() : formula.dxOfGiven(), formula.dscale(x.dim(1)),
                formula.dbias(x.dim(1)));
    }
}
