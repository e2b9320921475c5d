package io.seriatim.graph.differentiate;

import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.ops.common.Term;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.ReductionGrad;
import io.seriatim.tensor.computation.Unary;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Reductions. */
final class ReductionRules {
    private ReductionRules() {
    }

    static void register() {
        Rules.rule(Reduction.class, ReductionRules::reduction);
        Rules.expand(ReductionGrad.class,
                (grad, l, in) -> List.of(gradient(grad.reduction(), l, Objects.requireNonNull(in.get(0)), in.get(1),
                        Objects.requireNonNull(in.get(2)))));
    }

    private static void reduction(Reduction reduction, Derivative d) {
        switch (reduction.function()) {
            case ALL, ANY -> {
                // The result is a bool.
            }
            case SUM, MEAN -> d.give(0, spread(reduction, d.l(), d.like(0).shape(), d.gradient()));
            case MAX, MIN, LOG_SUM_EXP -> d.give(0,
                    d.l().run(new ReductionGrad(reduction), d.in(0), d.out(0), d.gradient()));
            case PRODUCT, SUM_OF_SQUARES, SUM_OF_MAGNITUDES -> d.give(0,
                    gradient(reduction, d.l(), d.in(0), null, d.gradient()));
        }
    }

    /** The gradient of a sum or mean. */
    private static Operand spread(Reduction reduction, Lowering l, Shape shape, Operand dy) {
        Operand kept = kept(reduction, l, shape, dy);
        long count = shape.size() / Math.max(1, kept.shape().size());
        Operand each = reduction.function() == Reduction.Function.MEAN
                ? new Term(l, kept).linear(1.0 / count, 0).operand()
                : kept;
        return each.expand(shape);
    }

    /** With the reduced dimensions of length 1. */
    private static Operand kept(Reduction reduction, Lowering l, Shape shape, Operand reduced) {
        return l.reshape(reduced, Views.kept(shape.dims(), reduction.reduced(shape)));
    }

    private static Operand gradient(Reduction reduction, Lowering l, Operand x, @Nullable Operand y, Operand dy) {
        Shape shape = x.shape();
        Term each = new Term(l, x);
        Term dout = new Term(l, kept(reduction, l, shape, dy));
        Operand result = switch (reduction.function()) {
            case SUM, MEAN -> spread(reduction, l, shape, dy);
            case MAX, MIN -> each.is(Binary.Function.EQUAL, of(reduction, l, x, y)).orZero(dout).operand();
            case LOG_SUM_EXP -> each.minus(of(reduction, l, x, y)).unary(Unary.Function.EXP).times(dout).operand();
            case SUM_OF_SQUARES -> each.linear(2, 0).times(dout).operand();
            case SUM_OF_MAGNITUDES -> each.unary(Unary.Function.SIGN).times(dout).operand();
            case PRODUCT -> new Term(l, others(reduction, l, x)).times(dout).operand();
            case ALL, ANY -> throw new IllegalArgumentException(reduction.function() + " has no gradient");
        };
        return Views.fitted(l, result, shape);
    }

    private static Term of(Reduction reduction, Lowering l, Operand x, @Nullable Operand y) {
        Operand result = y != null ? y : l.run(reduction, x);
        return new Term(l, kept(reduction, l, x.shape(), result));
    }

    /** The product of all other elements, by those before and after each: there may be zeros. */
    private static Operand others(Reduction reduction, Lowering l, Operand x) {
        boolean[] reduced = reduction.reduced(x.shape());
        int[] order = IntStream.concat(IntStream.range(0, x.rank()).filter(axis -> !reduced[axis]),
                IntStream.range(0, x.rank()).filter(axis -> reduced[axis])).toArray();
        Operand ordered = x.transpose(order);
        long count = 1;
        for (int axis = 0; axis < x.rank(); axis++) {
            count *= reduced[axis] ? x.dim(axis) : 1;
        }
        if (x.shape().size() == 0) {
            return l.fill(0, x.spec());
        }
        Operand lines = l.reshape(ordered, x.shape().size() / count, count);
        Operand products = l.binary(Binary.Function.MULTIPLY, before(l, lines), before(l, lines.flip(1)).flip(1));
        int[] back = new int[order.length];
        for (int i = 0; i < order.length; i++) {
            back[order[i]] = i;
        }
        return l.reshape(products, ordered.shape().dims()).transpose(back);
    }

    /** The products of all elements of a line before each one, in as many steps as the length has binary digits. */
    private static Operand before(Lowering l, Operand lines) {
        long count = lines.dim(1);
        Operand products = l.fill(1, TensorSpec.of(lines.dtype(), lines.shape()));
        l.into(Copy.PLAIN, List.of(lines.slice(1, 0, count - 1)), List.of(products.slice(1, 1, count)));
        for (long reach = 1; reach < count; reach *= 2) {
            Operand longer = l.temporary(products.spec());
            l.into(Copy.PLAIN, List.of(products.slice(1, 0, reach)), List.of(longer.slice(1, 0, reach)));
            l.into(Binary.of(Binary.Function.MULTIPLY),
                    List.of(products.slice(1, reach, count), products.slice(1, 0, count - reach)),
                    List.of(longer.slice(1, reach, count)));
            products = longer;
        }
        return products;
    }
}
