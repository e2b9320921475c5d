package io.seriatim.graph.ops.common;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.tensor.computation.Reduction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Dimensions, some of which may be unknown (−1), and the inputs and attributes that give them. */
public final class Dims {
    private Dims() {
    }

    public static long[] unknown(long rank) {
        long[] dims = new long[WorkingMemory.length(rank)];
        Arrays.fill(dims, -1);
        return dims;
    }

    public static long[] inserted(long[] dims, int at, long dim) {
        long[] more = Arrays.copyOf(dims, dims.length + 1);
        System.arraycopy(dims, at, more, at + 1, dims.length - at);
        more[at] = dim;
        return more;
    }

    public static long[] with(long[] dims, int at, long dim) {
        long[] changed = dims.clone();
        changed[at] = dim;
        return changed;
    }

    /** As many dimensions, with ones in front. */
    public static long[] leading(long[] dims, int rank) {
        long[] more = new long[rank];
        Arrays.fill(more, 1);
        System.arraycopy(dims, 0, more, rank - dims.length, dims.length);
        return more;
    }

    public static long[] without(long[] dims, boolean[] gone) {
        long[] fewer = new long[dims.length];
        int rank = 0;
        for (int i = 0; i < dims.length; i++) {
            if (!gone[i]) {
                fewer[rank++] = dims[i];
            }
        }
        return Arrays.copyOf(fewer, rank);
    }

    public static long plus(long a, long b) {
        return a < 0 || b < 0 ? -1 : Math.addExact(a, b);
    }

    public static long times(long a, long b) {
        return a < 0 || b < 0 ? -1 : Math.multiplyExact(a, b);
    }

    public static int[] axes(Inference inference, String slot, long... axes) {
        int[] known = new int[axes.length];
        for (int i = 0; i < axes.length; i++) {
            known[i] = inference.axis(slot, axes[i]);
        }
        return known;
    }

    /** Sets XShape, by which the gradient knows the shape of X without X. */
    public static void rememberX(Inference inference) {
        inference.set("XShape", inference.dtype("X"), inserted(inference.dims("X"), 0, 0));
    }

    /** The gradient of X has the shape that XShape tells. */
    public static void gradientLikeXShape(Inference inference) {
        long[] remembered = inference.dims("XShape");
        inference.require(remembered.length > 0, "XShape needs one dimension more than X, but has none");
        inference.set("X@GRAD", inference.dtype("Out@GRAD"), Arrays.copyOfRange(remembered, 1, remembered.length));
    }

    /** How many numbers a tensor has that lists dimensions or axes. */
    public static int count(Inference inference, String slot) {
        long size = Inference.size(inference.dims(slot));
        inference.require(size >= 0 && size <= 64, "the number of elements of %s must be known, and at most 64", slot);
        return (int) size;
    }

    /**
     * The numbers of a list of tensors, else of a tensor, else of an attribute; null if the values of the tensors are
     * not known yet.
     */
    public static long @Nullable [] given(Inference inference, String list, String tensor, String attribute) {
        if (inference.has(list)) {
            return inference.values(list) == null ? null : inference.listed(list);
        }
        return inference.has(tensor) ? inference.values(tensor) : inference.attrs().getLongs(attribute);
    }

    /** The numbers of a list of tensors, else of a tensor, else of an attribute. */
    public static long[] given(Lowering l, String list, String tensor, String attribute) {
        long[] values = l.has(list) ? l.listed(list) : l.values(tensor);
        return values == null ? l.attrs().getLongs(attribute) : values;
    }

    /** The sum over the dimensions that were repeated: it has a shape that expands to that of x. */
    public static Operand sumTo(Lowering l, Operand x, long[] dims) {
        long[] target = leading(dims, x.rank());
        List<Integer> repeated = new ArrayList<>();
        for (int i = 0; i < target.length; i++) {
            if (target[i] != x.dim(i)) {
                repeated.add(i);
            }
        }
        Operand sum = repeated.isEmpty() ? x : l.run(new Reduction(Reduction.Function.SUM, repeated, true), x);
        return l.reshape(sum, dims);
    }
}
