package io.seriatim.graph.ops.cumulative;

import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.ops.common.Lines;
import io.seriatim.graph.ops.common.Term;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.Unary;
import java.util.ArrayList;
import java.util.List;

/** The gradients of running products and of running logarithms of sums as steps, of which there are gradients, too. */
final class RunningGradients {
    private RunningGradients() {
    }

    /** Lines as [outer, length, inner]. */
    private static Operand lines(Lowering l, Operand x, Lines lines) {
        long outer = lines.size() / Math.max(1, (long) lines.length() * lines.inner());
        return l.reshape(x, outer, lines.length(), lines.inner());
    }

    private static Operand times(Lowering l, Operand a, Operand b) {
        return l.binary(Binary.Function.MULTIPLY, a, b);
    }

    /**
     * The gradient of running products. In each round the products grow to twice as many factors, so that zeros need no
     * rule of their own; the rounds are gone through backwards.
     */
    static Operand ofProducts(Lowering l, Operand x, Operand dout, Lines lines) {
        long length = lines.length();
        List<Operand> rounds = new ArrayList<>(List.of(lines(l, x, lines)));
        for (long reach = 1; reach < length; reach *= 2) {
            Operand before = rounds.getLast();
            Operand after = l.temporary(before.spec().rowMajor());
            l.into(Copy.PLAIN, List.of(before.slice(1, 0, reach)), List.of(after.slice(1, 0, reach)));
            l.into(Binary.of(Binary.Function.MULTIPLY),
                    List.of(before.slice(1, reach, length), before.slice(1, 0, length - reach)),
                    List.of(after.slice(1, reach, length)));
            rounds.add(after);
        }
        Operand gradient = lines(l, dout, lines);
        long reach = Long.highestOneBit(Math.max(1, length - 1));
        for (int i = rounds.size() - 2; i >= 0; i--, reach /= 2) {
            Operand before = rounds.get(i);
            Operand later = gradient.slice(1, reach, length);
            Operand own = l.temporary(before.spec().rowMajor());
            l.into(Copy.PLAIN, List.of(gradient.slice(1, 0, reach)), List.of(own.slice(1, 0, reach)));
            l.into(Binary.of(Binary.Function.MULTIPLY), List.of(later, before.slice(1, 0, length - reach)),
                    List.of(own.slice(1, reach, length)));
            Operand earlier = l.fill(0, own.spec());
            l.into(Binary.of(Binary.Function.MULTIPLY), List.of(later, before.slice(1, reach, length)),
                    List.of(earlier.slice(1, 0, length - reach)));
            gradient = l.binary(Binary.Function.ADD, own, earlier);
        }
        return l.reshape(gradient, x.shape().dims());
    }

    /**
     * The gradient of running logarithms: the sum over all places k that x is part of, of dout · exp(x − logarithm at
     * k), written out for all pairs of places.
     */
    static Operand ofLogarithms(Lowering l, Operand x, Operand dout, Lines lines, boolean exclusive, boolean reverse) {
        int length = lines.length();
        Operand each = lines(l, x, lines).unsqueeze(1);
        long[] counts = new long[WorkingMemory.length(length, length)];
        for (int k = 0; k < length; k++) {
            for (int i = 0; i < length; i++) {
                boolean part = reverse ? i >= k : i <= k;
                counts[k * length + i] = part && !(exclusive && i == k) ? 1 : 0;
            }
        }
        Term counted = new Term(l, l.constant(Tensor.of(DType.BOOL, counts, 1, length, length, 1)));
        Operand pairs = l.copy(each.expand(Shape.of(each.dim(0), length, length, each.dim(3))));
        Term values = counted.choose(new Term(l, pairs), new Term(l, pairs).number(-1e30));
        Operand logarithms = l.run(new Reduction(Reduction.Function.LOG_SUM_EXP, List.of(2), true), values.operand());
        Term shares = counted.orZero(values.minus(new Term(l, logarithms)).unary(Unary.Function.EXP));
        Operand incoming = lines(l, dout, lines).unsqueeze(2);
        Operand products = times(l, shares.operand(), incoming);
        Operand sum = l.run(new Reduction(Reduction.Function.SUM, List.of(1), false), products);
        return l.reshape(sum, x.shape().dims());
    }
}
