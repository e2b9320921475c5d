package io.seriatim.graph.differentiate;

import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.ops.common.Term;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.network.BatchNorm;
import io.seriatim.tensor.computation.network.BatchNormGrad;
import io.seriatim.tensor.computation.network.GroupNorm;
import io.seriatim.tensor.computation.network.GroupNormGrad;
import io.seriatim.tensor.computation.network.LayerNorm;
import io.seriatim.tensor.computation.network.LayerNormGrad;
import io.seriatim.tensor.kernel.Computation;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Normalisations, with the gradients of the mean and the variance that they also give. */
final class NormalisationRules {
    private NormalisationRules() {
    }

    static void register() {
        Rules.rule(BatchNorm.class, NormalisationRules::batch);
        Rules.rule(LayerNorm.class, (norm, d) -> own(new LayerNormGrad(norm), norm.scale(), d));
        Rules.rule(GroupNorm.class, (norm, d) -> own(new GroupNormGrad(norm), norm.scale(), d));
    }

    /** Layer and group normalisation, whose statistics are those of rows of x: [rows, elements]. */
    private static void own(Computation gradient, boolean scale, Derivative d) {
        Lowering l = d.l();
        Operand dout = d.gradient(0);
        if (dout != null) {
            List<@Nullable Operand> in = new ArrayList<>(List.of(d.in(0), dout));
            if (scale) {
                in.add(d.in(1));
            }
            in.add(d.out(1));
            in.add(d.out(2));
            List<Operand> gradients = l.runAll(gradient, in.toArray(Operand[]::new));
            for (int i = 0; i < gradients.size(); i++) {
                Operand like = d.like(i);
                d.give(i, l.reshape(gradients.get(i), like.shape().dims()));
            }
        }
        for (int statistic = 1; statistic <= 2; statistic++) {
            Operand given = d.gradient(statistic);
            if (given != null && d.wants(0)) {
                long rows = given.shape().size();
                long count = d.like(0).shape().size() / Math.max(1, rows);
                Operand x = l.cast(l.reshape(d.in(0), rows, count), given.dtype());
                Term each = d.term(l.reshape(given, rows, 1)).linear((statistic == 1 ? 1.0 : 2.0) / count, 0);
                Term change = statistic == 1
                        ? each
                        : each.times(d.term(x).minus(d.term(l.reshape(d.out(1), rows, 1))));
                d.give(0, l.reshape(Views.fitted(l, change.operand(), x.shape()), d.like(0).shape().dims()));
            }
        }
    }

    private static void batch(BatchNorm norm, Derivative d) {
        Lowering l = d.l();
        Operand dout = d.gradient(0);
        if (dout != null) {
            Operand mean = norm.training() ? d.out(1) : d.in(3);
            Operand spread = norm.training() ? d.out(2) : d.in(4);
            List<Operand> gradients = l.runAll(new BatchNormGrad(norm), d.in(0), dout, d.in(1), mean, spread);
            for (int i = 0; i < gradients.size(); i++) {
                d.give(i, gradients.get(i));
            }
            if (!norm.training() && (d.wants(3) || d.wants(4))) {
                given(norm, d, dout);
            }
        }
        if (norm.training() && d.wants(0)) {
            statistics(d);
        }
    }

    /** The gradients of a mean and a variance that are given: each is one for a channel. */
    private static void given(BatchNorm norm, Derivative d, Operand dout) {
        Lowering l = d.l();
        Operand x = d.in(0);
        Term scale = d.term(channels(l, d.in(1), x.rank()));
        Term inverse = d.term(l.unary(Unary.Function.RSQRT,
                d.term(channels(l, d.in(4), x.rank())).linear(1, norm.epsilon()).operand()));
        Term moved = d.term(l.cast(dout, d.like(1).dtype())).times(scale).times(inverse);
        Term centred = d.term(l.cast(x, d.like(1).dtype())).minus(d.term(channels(l, d.in(3), x.rank())));
        long[] dims = channels(l, d.in(1), x.rank()).shape().dims();
        if (d.wants(3)) {
            Operand sum = Views.fitted(l, moved.unary(Unary.Function.NEGATE).operand(),
                    Shape.of(dims));
            d.give(3, l.reshape(sum, d.like(3).shape().dims()));
        }
        if (d.wants(4)) {
            Term bent = moved.times(centred).times(inverse).times(inverse).linear(-0.5, 0);
            Operand sum = Views.fitted(l, bent.operand(), Shape.of(dims));
            d.give(4, l.reshape(sum, d.like(4).shape().dims()));
        }
    }

    /** The part of the gradient that comes from the batch's mean and from 1 / √(variance + ε). */
    private static void statistics(Derivative d) {
        Lowering l = d.l();
        Operand x = d.like(0);
        long channels = Math.max(1, x.dim(1));
        double count = Math.max(1, x.shape().size() / (double) channels);
        Operand ofMean = d.gradient(1);
        if (ofMean != null) {
            d.give(0, d.term(channels(l, ofMean, x.rank())).linear(1 / count, 0).operand());
        }
        Operand ofInverse = d.gradient(2);
        if (ofInverse != null) {
            Term inverse = d.term(channels(l, d.out(2), x.rank()));
            Term cubed = inverse.times(inverse).times(inverse).times(d.term(channels(l, ofInverse, x.rank())));
            Term centred = d.term(l.cast(d.in(0), ofInverse.dtype()))
                    .minus(d.term(channels(l, d.out(1), x.rank())));
            d.give(0, centred.times(cubed).linear(-1 / count, 0).operand());
        }
    }

    /** One value a channel, as it broadcasts to images. */
    static Operand channels(Lowering l, Operand values, int rank) {
        long[] dims = new long[rank - 1];
        Arrays.fill(dims, 1);
        dims[0] = values.shape().size();
        return l.reshape(values, dims);
    }
}
