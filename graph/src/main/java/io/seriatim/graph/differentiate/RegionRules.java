package io.seriatim.graph.differentiate;

import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Concatenation;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.network.BilinearSamples;
import io.seriatim.tensor.computation.network.BilinearSamplesGradImages;
import io.seriatim.tensor.computation.network.BilinearSamplesGradPlaces;
import io.seriatim.tensor.computation.network.RoiAlign;
import io.seriatim.tensor.computation.network.RoiAlignGrad;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Regions and samples of images. Regions count as constants. */
final class RegionRules {
    private RegionRules() {
    }

    static void register() {
        Rules.rule(RoiAlign.class, (align, d) -> {
            Operand x = d.like(0);
            d.give(0, d.l().run(new RoiAlignGrad(align, x.dim(0), List.of(x.dim(2), x.dim(3))), d.in(1), d.in(2),
                    d.gradient()));
        });
        Rules.rule(RoiAlignGrad.class,
                (grad, d) -> d.give(2, d.l().run(grad.forward(), d.gradient(), d.in(0), d.in(1))));
        Rules.rule(BilinearSamples.class, (_, d) -> samples(d));
        Rules.rule(BilinearSamplesGradImages.class, (_, d) -> images(d));
        Rules.expand(BilinearSamplesGradPlaces.class, (_, l, inputs) -> places(l, inputs));
    }

    private static void samples(Derivative d) {
        Operand weights = d.has(2) ? d.in(2) : null;
        if (d.wants(0)) {
            Operand x = d.like(0);
            d.give(0, d.l().run(new BilinearSamplesGradImages(List.of(x.dim(2), x.dim(3))), d.in(1), weights,
                    d.gradient()));
        }
        if (d.wants(1) || (weights != null && d.wants(2))) {
            give(d, 1, 2, d.l().runAll(new BilinearSamplesGradPlaces(), d.in(0), d.in(1), weights, d.gradient()));
        }
    }

    /** The gradient of the images is linear in that of the samples, as the samples are in the images. */
    private static void images(Derivative d) {
        Operand weights = d.has(1) ? d.in(1) : null;
        if (d.wants(2)) {
            d.give(2, d.l().run(new BilinearSamples(), d.gradient(), d.in(0), weights));
        }
        if (d.wants(0) || (weights != null && d.wants(1))) {
            give(d, 0, 1, d.l().runAll(new BilinearSamplesGradPlaces(), d.gradient(), d.in(0), weights, d.in(2)));
        }
    }

    private static void give(Derivative d, int places, int weights, List<Operand> gradients) {
        if (d.wants(places)) {
            d.give(places, gradients.get(0));
        }
        if (d.has(weights) && d.wants(weights)) {
            d.give(weights, gradients.get(1));
        }
    }

    /** The slope along an axis is the difference of the samples at the next and at the last whole coordinate. */
    private static List<@Nullable Operand> places(Lowering l, List<@Nullable Operand> inputs) {
        Operand x = Objects.requireNonNull(inputs.get(0));
        Operand places = Objects.requireNonNull(inputs.get(1));
        Operand weights = inputs.get(2);
        Operand dy = Objects.requireNonNull(inputs.get(3));
        Operand rows = places.slice(1, 0, 1);
        Operand columns = places.slice(1, 1, 2);
        Operand above = l.unary(Unary.Function.FLOOR, rows);
        Operand left = l.unary(Unary.Function.FLOOR, columns);
        Operand down = difference(l, sampled(l, x, l.linear(above, 1, 1), columns), sampled(l, x, above, columns));
        Operand right = difference(l, sampled(l, x, rows, l.linear(left, 1, 1)), sampled(l, x, rows, left));
        Operand slopes = pair(l, summed(l, dy, down), summed(l, dy, right));
        Operand products = summed(l, dy, l.run(new BilinearSamples(), x, places, null));
        return Arrays.asList(
                weights == null
                        ? slopes
                        : l.binary(Binary.Function.MULTIPLY, slopes, weights.unsqueeze(1)),
                products.reshape(products.dim(0), products.dim(2)));
    }

    private static Operand sampled(Lowering l, Operand x, Operand rows, Operand columns) {
        return l.run(new BilinearSamples(), x, pair(l, rows, columns), null);
    }

    /** Two parts one after the other along the second axis. */
    private static Operand pair(Lowering l, Operand first, Operand second) {
        Operand whole = l.temporary(Concatenation.infer(1, List.of(first.spec(), second.spec())));
        l.into(Copy.PLAIN, List.of(first), List.of(whole.slice(1, 0, 1)));
        l.into(Copy.PLAIN, List.of(second), List.of(whole.slice(1, 1, 2)));
        return whole;
    }

    private static Operand difference(Lowering l, Operand a, Operand b) {
        return l.binary(Binary.Function.SUBTRACT, a, b);
    }

    /** Products summed over the channels. */
    private static Operand summed(Lowering l, Operand dy, Operand samples) {
        return l.run(new Reduction(Reduction.Function.SUM, List.of(1), true),
                l.binary(Binary.Function.MULTIPLY, dy, samples));
    }
}
