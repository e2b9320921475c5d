package io.seriatim.graph.ops.common;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.tensor.computation.Reduction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Paddle's attribute axis: at which dimension of the longer operand the shorter one begins; −1 to end where it ends.
 */
public final class Alignment {
    private Alignment() {
    }

    /** The shape of two operands together. */
    public static long[] broadcast(Inference inference, long[] x, long[] y) {
        int axis = inference.attrs().getInt("axis");
        int rank = Math.max(x.length, y.length);
        if (x.length == y.length) {
            inference.require(axis == -1 || axis == 0 || Arrays.equals(x, y),
                    "with equal ranks the axis must be -1 or 0, but is %d", axis);
        } else {
            long[] shorter = x.length < rank ? x : y;
            int first = first(shorter.length, rank, axis);
            inference.require(
                    axis >= -rank && axis < rank && first >= 0 && first + counted(shorter, rank - first) <= rank,
                    "the axis %d does not place %s within %d dimensions", axis, Numbers.text(shorter), rank);
        }
        return inference.broadcast(dims(x, rank, axis), dims(y, rank, axis));
    }

    private static int first(int length, int rank, int axis) {
        return axis < 0 ? rank - length + axis + 1 : axis;
    }

    /** How many dimensions count: if there are too many, trailing dimensions of length 1 are left out. */
    private static int counted(long[] dims, int room) {
        int count = dims.length;
        while (count > room && count > 0 && dims[count - 1] == 1) {
            count--;
        }
        return count;
    }

    /**
     * The dimensions of an operand, so that they broadcast from the right: followed by as many of length 1 as the axis
     * leaves.
     */
    private static long[] dims(long[] dims, int rank, int axis) {
        if (dims.length >= rank) {
            return dims;
        }
        int first = first(dims.length, rank, axis);
        long[] aligned = new long[rank - first];
        Arrays.fill(aligned, 1);
        System.arraycopy(dims, 0, aligned, 0, counted(dims, rank - first));
        return aligned;
    }

    /** An operand so that it broadcasts from the right with one of a rank. */
    public static Operand of(Lowering l, Operand operand, int rank) {
        return l.reshape(operand, dims(operand.shape().dims(), rank, l.attrs().getInt("axis")));
    }

    /** Gives the gradient of an operand its value: sums over what the operand was repeated for. */
    public static void out(Lowering l, String slot, Operand full) {
        long[] dims = l.outType(slot, 0).dims();
        l.out(slot, l.reshape(summed(l, full, dims(dims, full.rank(), l.attrs().getInt("axis"))), dims));
    }

    /** Sums over the dimensions that others lack, or where their length is 1. */
    public static Operand summed(Lowering l, Operand full, long[] dims) {
        List<Integer> axes = new ArrayList<>();
        int added = full.rank() - dims.length;
        for (int i = 0; i < full.rank(); i++) {
            if (i < added || (dims[i - added] == 1 && full.dim(i) != 1)) {
                axes.add(i);
            }
        }
        return axes.isEmpty() ? full : l.run(new Reduction(Reduction.Function.SUM, axes, true), full);
    }
}
