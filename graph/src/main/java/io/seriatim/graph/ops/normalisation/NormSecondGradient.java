package io.seriatim.graph.ops.normalisation;

import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.ops.convolution.ConvolutionOperations;
import io.seriatim.tensor.computation.Binary.Function;
import io.seriatim.tensor.computation.Reduction;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The gradient of a normalisation's gradient. With x̂ = (x − mean) · r, r = 1 / √(variance + ε), and m the mean over
 * the elements that are normalised together, the gradient is dx = s · r · (dy − m(dy) − x̂ · m(dy · x̂)) and ds = Σ dy
 * · x̂; here are the gradients of ddx · dx + dds · ds + ddb · db with respect to x, s and dy. Where mean and variance
 * are given from outside, dx = s · r · dy.
 *
 * <p>
 * With P = m(ddx · x̂), Q = m(dy · x̂) and c(v) = v − m(v) − x̂ · m(v · x̂): the gradient of dy is s · r · c(ddx) + dds
 * · x̂ + ddb, that of s is Σ r · ddx · c(dy), and that of x is −s · r² · (x̂ · m(ddx · c(dy)) + Q · c(ddx) + P · c(dy))
 * + dds · r · c(dy).
 */
final class NormSecondGradient {
    private final Lowering l;
    private final Operand x;
    private final Operand dy;
    private final Operand inverse;
    private final @Nullable Operand scale;
    private final List<Integer> axes;
    private final boolean own;
    private final Operand normal;

    /**
     * Prepares.
     *
     * @param dy
     *            null for zeros
     * @param mean
     *            broadcasts to x, as do inverse and scale
     * @param axes
     *            that are normalised together
     * @param own
     *            whether mean and inverse are those of x
     */
    NormSecondGradient(Lowering l, Operand x, @Nullable Operand dy, Operand mean, Operand inverse,
            @Nullable Operand scale,
            List<Integer> axes,
            boolean own) {
        this.l = l;
        this.x = x;
        this.dy = dy == null ? l.fill(0, x.spec()) : dy;
        this.inverse = inverse;
        this.scale = scale;
        this.axes = axes;
        this.own = own;
        normal = times(l.binary(Function.SUBTRACT, x, mean), inverse);
    }

    private Operand times(Operand a, Operand b) {
        return l.binary(Function.MULTIPLY, a, b);
    }

    private Operand mean(Operand values) {
        return l.run(new Reduction(Reduction.Function.MEAN, axes, true), values);
    }

    /** The part of a gradient that the normalisation passes on: without its mean and its projection on x̂. */
    private Operand centred(Operand values) {
        if (!own) {
            return values;
        }
        Operand left = l.binary(Function.SUBTRACT, values, mean(values));
        return l.binary(Function.SUBTRACT, left, times(normal, mean(times(values, normal))));
    }

    private Operand scaled(Operand values) {
        Operand times = times(values, inverse);
        return scale == null ? times : times(times, scale);
    }

    private Operand sum(@Nullable Operand a, @Nullable Operand b) {
        Operand sum = ConvolutionOperations.sum(l, a, b);
        return sum == null ? l.fill(0, x.spec()) : sum;
    }

    /** The gradient of x. */
    Operand x(@Nullable Operand ddx, @Nullable Operand dds) {
        Operand gradient = centred(dy);
        Operand byScale = dds == null ? null : times(times(gradient, inverse), dds);
        if (ddx == null || !own) {
            return sum(byScale, null);
        }
        Operand along = times(normal, mean(times(ddx, gradient)));
        Operand second = times(centred(ddx), mean(times(dy, normal)));
        Operand first = times(gradient, mean(times(ddx, normal)));
        Operand curved = scaled(times(l.binary(Function.ADD, l.binary(Function.ADD, along, second), first), inverse));
        return byScale == null ? l.linear(curved, -1, 0) : l.binary(Function.SUBTRACT, byScale, curved);
    }

    /** The gradient of the scale, [1, c, 1...] if the scale is that. */
    Operand scale(@Nullable Operand ddx) {
        Operand products = ddx == null ? l.fill(0, x.spec()) : times(times(ddx, centred(dy)), inverse);
        List<Integer> others = IntStream.range(0, x.rank()).filter(axis -> axis != 1).boxed().toList();
        return l.run(new Reduction(Reduction.Function.SUM, others, true), products);
    }

    /** The gradient of dy. */
    Operand output(@Nullable Operand ddx, @Nullable Operand dds, @Nullable Operand ddb) {
        Operand byImage = ddx == null ? null : scaled(centred(ddx));
        Operand byScale = dds == null ? null : times(normal, dds);
        Operand byBias = ddb == null ? null : ddb.expand(x.shape());
        Operand sum = ConvolutionOperations.sum(l, byImage, byScale);
        return sum == null ? l.copy(sum(byBias, null)) : sum(sum, byBias);
    }
}
