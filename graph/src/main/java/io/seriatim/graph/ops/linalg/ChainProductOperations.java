package io.seriatim.graph.ops.linalg;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.ops.common.Dims;
import io.seriatim.tensor.computation.MatMul;
import java.util.ArrayList;
import java.util.List;

/**
 * The product of several matrices, of which the first and the last may be vectors, in the order that needs the fewest
 * multiplications.
 */
public final class ChainProductOperations {
    private static final MatMul LEFT_TRANSPOSED = new MatMul(true, false, false, List.of());
    private static final MatMul RIGHT_TRANSPOSED = new MatMul(false, true, false, List.of());

    private ChainProductOperations() {
    }

    public static void register(Operations registry) {
        Operation.define("multi_dot").in("X*").out("Out").infer(ChainProductOperations::infer).lower(l -> {
            List<Operand> factors = factors(l);
            l.out("Out", product(l, factors, cuts(factors), 0, factors.size() - 1).reshape(l.outType("Out", 0).dims()));
        }).grad("multi_dot_grad(Out@GRAD, X) -> X@GRAD", ChainProductOperations::gradients).register(registry);
    }

    private static void infer(Inference inference) {
        int count = inference.count("X");
        inference.require(count >= 2, "X must have two matrices or more, but has %d", count);
        long[] first = inference.in("X", 0).dims();
        long[] last = inference.in("X", count - 1).dims();
        long columns = -1;
        for (int i = 0; i < count; i++) {
            long[] dims = inference.in("X", i).dims();
            boolean vector = dims.length == 1 && (i == 0 || i == count - 1);
            inference.require(vector || dims.length == 2,
                    "X must have matrices, and vectors at most at its ends, but place %d has %s", i,
                    Numbers.text(dims));
            inference.require(
                    inference.in("X", i).dtype().isFloating() && inference.in("X", i).dtype() == inference.dtype("X"),
                    "X must be of one floating-point type, but place %d is %s", i, inference.in("X", i).dtype());
            inference.require(columns < 0 || dims[0] < 0 || columns == dims[0],
                    "place %d of X must have %d rows, but has %d", i, columns,
                    dims[0]);
            columns = dims[dims.length - 1];
        }
        long[] rows = first.length == 2 ? new long[]{first[0]} : new long[0];
        inference.set("Out", inference.dtype("X"), last.length == 2 ? Dims.inserted(rows, rows.length, last[1]) : rows);
    }

    private static List<Operand> factors(Lowering l) {
        List<Operand> factors = new ArrayList<>(l.ins("X"));
        Operand first = factors.getFirst();
        factors.set(0, first.rank() == 1 ? first.unsqueeze(0) : first);
        Operand last = factors.getLast();
        factors.set(factors.size() - 1, last.rank() == 1 ? last.unsqueeze(1) : last);
        return factors;
    }

    /**
     * For each chain from one factor to another, after which factor it is cut in two (Cormen and others: Introduction
     * to Algorithms, 15.2).
     */
    private static int[][] cuts(List<Operand> factors) {
        int count = factors.size();
        WorkingMemory.length(count, 2L * count);
        double[][] costs = new double[count][count];
        int[][] cuts = new int[count][count];
        for (int length = 2; length <= count; length++) {
            for (int from = 0; from + length <= count; from++) {
                int to = from + length - 1;
                costs[from][to] = Double.POSITIVE_INFINITY;
                for (int cut = from; cut < to; cut++) {
                    double here = (double) factors.get(from).dim(0) * factors.get(cut).dim(1) * factors.get(to).dim(1);
                    double cost = costs[from][cut] + costs[cut + 1][to] + here;
                    if (cost < costs[from][to]) {
                        costs[from][to] = cost;
                        cuts[from][to] = cut;
                    }
                }
            }
        }
        return cuts;
    }

    private static Operand product(Lowering l, List<Operand> factors, int[][] cuts, int from, int to) {
        if (from == to) {
            return factors.get(from);
        }
        int cut = cuts[from][to];
        return l.run(MatMul.PLAIN, product(l, factors, cuts, from, cut), product(l, factors, cuts, cut + 1, to));
    }

    /** The gradient of a factor is dout between the transposed products of those before it and of those after it. */
    private static void gradients(Lowering l) {
        List<Operand> factors = factors(l);
        int last = factors.size() - 1;
        List<Operand> after = new ArrayList<>(List.of(factors.get(last)));
        for (int i = last - 1; i > 0; i--) {
            after.addFirst(l.run(MatMul.PLAIN, factors.get(i), after.getFirst()));
        }
        Operand left = l.reshape(l.in("Out@GRAD"), factors.get(0).dim(0), factors.get(last).dim(1));
        for (int i = 0; i <= last; i++) {
            if (l.wants("X@GRAD", i)) {
                Operand gradient = i == last ? left : l.run(RIGHT_TRANSPOSED, left, after.get(i));
                l.out("X@GRAD", i, l.reshape(gradient, l.in("X", i).shape().dims()));
            }
            if (i < last) {
                left = l.run(LEFT_TRANSPOSED, factors.get(i), left);
            }
        }
    }
}
