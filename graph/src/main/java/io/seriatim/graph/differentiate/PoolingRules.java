package io.seriatim.graph.differentiate;

import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.ArgReduction;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Pad;
import io.seriatim.tensor.computation.TakeAlongAxis;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.Where;
import io.seriatim.tensor.computation.network.AdaptivePooling;
import io.seriatim.tensor.computation.network.Pooling;
import io.seriatim.tensor.computation.network.PoolingGrad;
import io.seriatim.tensor.kernel.Computation;
import java.util.ArrayList;
import java.util.List;

/** Pooling. The gradient of a maximum's gradient takes the element where each window has its first maximum. */
final class PoolingRules {
    private PoolingRules() {
    }

    static void register() {
        Rules.rule(Pooling.class, PoolingRules::pooling);
        Rules.rule(AdaptivePooling.class, PoolingRules::pooling);
        Rules.rule(PoolingGrad.class, PoolingRules::gradient);
    }

    private static void pooling(Computation pooling, Derivative d) {
        d.give(0, d.l().run(new PoolingGrad(pooling), d.in(0), d.out(0), d.gradient()));
    }

    /** The gradient is linear in dy; x decides on places only. */
    private static void gradient(PoolingGrad grad, Derivative d) {
        if (d.wants(2)) {
            d.give(2, switch (grad.forward()) {
                case Pooling pooling when pooling.kind() == Pooling.Kind.MAX -> ofWindows(pooling, d);
                case AdaptivePooling pooling when pooling.kind() == Pooling.Kind.MAX -> ofParts(pooling, d);
                default -> d.l().run(grad.forward(), d.gradient());
            });
        }
    }

    /** Goes through the places of a window, at each for all windows together. */
    private static Operand ofWindows(Pooling pooling, Derivative d) {
        Lowering l = d.l();
        int rank = pooling.window().rank();
        Operand x = d.in(0);
        Operand values = d.gradient();
        Shape result = d.like(2).shape();
        Operand best = padded(l, x, pooling, result, Double.NEGATIVE_INFINITY);
        Operand source = padded(l, values, pooling, result, 0);
        Operand largest = l.run(pooling, x);
        Operand taken = l.fill(0, TensorSpec.of(values.dtype(), result));
        Operand open = l.fill(1, TensorSpec.of(DType.BOOL, result));
        long[] place = new long[rank];
        long count = pooling.kernel().stream().mapToLong(Long::longValue).reduce(1, Math::multiplyExact);
        for (long i = 0; i < count; i++) {
            Operand candidates = best;
            Operand chosen = source;
            for (int axis = 0; axis < rank; axis++) {
                int stride = pooling.window().stride(axis);
                candidates = candidates.slice(2 + axis, place[axis], stride, result.dim(2 + axis));
                chosen = chosen.slice(2 + axis, place[axis], stride, result.dim(2 + axis));
            }
            Operand same = l.binary(Binary.Function.LOGICAL_OR, l.binary(Binary.Function.EQUAL, candidates, largest),
                    l.unary(Unary.Function.IS_NAN, candidates));
            Operand first = l.binary(Binary.Function.LOGICAL_AND, same, open);
            taken = l.run(new Where(), first, chosen, taken);
            open = l.binary(Binary.Function.LOGICAL_AND, open, l.unary(Unary.Function.LOGICAL_NOT, same));
            for (int axis = rank - 1; axis >= 0 && ++place[axis] == pooling.kernel().get(axis); axis--) {
                place[axis] = 0;
            }
        }
        return taken;
    }

    private static Operand padded(Lowering l, Operand image, Pooling pooling, Shape result, double value) {
        List<Long> before = new ArrayList<>(List.of(0L, 0L));
        List<Long> after = new ArrayList<>(List.of(0L, 0L));
        for (int axis = 0; axis < pooling.window().rank(); axis++) {
            long begin = pooling.window().padBegin(axis);
            long covered = (result.dim(2 + axis) - 1) * pooling.window().stride(axis) + pooling.kernel().get(axis);
            before.add(begin);
            after.add(Math.max(0, covered - begin - image.dim(2 + axis)));
        }
        return l.run(new Pad(before, after, Pad.Mode.CONSTANT, value), image);
    }

    /** Goes through the places of the result, whose parts of the image differ in size. */
    private static Operand ofParts(AdaptivePooling pooling, Derivative d) {
        Lowering l = d.l();
        Operand x = d.in(0);
        Operand values = d.gradient();
        Operand result = l.temporary(TensorSpec.of(values.dtype(), d.like(2).shape()));
        int rank = pooling.output().size();
        long[] place = new long[rank];
        long count = pooling.output().stream().mapToLong(Long::longValue).reduce(1, Math::multiplyExact);
        for (long i = 0; i < count; i++) {
            Operand part = x;
            Operand source = values;
            Operand to = result;
            for (int axis = 0; axis < rank; axis++) {
                long length = x.dim(2 + axis);
                long places = pooling.output().get(axis);
                long from = place[axis] * length / places;
                long end = ((place[axis] + 1) * length + places - 1) / places;
                part = part.slice(2 + axis, from, end);
                source = source.slice(2 + axis, from, end);
                to = to.slice(2 + axis, place[axis], place[axis] + 1);
            }
            Operand flat = l.reshape(part, x.dim(0), x.dim(1), part.shape().slice(2, part.rank()).size());
            Operand at = l.run(new ArgReduction(true, 2, true), flat);
            Operand taken = l.run(new TakeAlongAxis(2), l.reshape(source, flat.shape().dims()), at);
            l.into(Copy.PLAIN, List.of(l.reshape(taken, to.shape().dims())), List.of(to));
            for (int axis = rank - 1; axis >= 0 && ++place[axis] == pooling.output().get(axis); axis--) {
                place[axis] = 0;
            }
        }
        return result;
    }
}
