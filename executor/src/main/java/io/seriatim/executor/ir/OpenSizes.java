package io.seriatim.executor.ir;

import io.seriatim.graph.op.ArgType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The sizes of external values that a plan leaves open: it serves all of them. They are the sizes that change from one
 * iteration of a loop to the next, such as the length of what has been decoded so far.
 *
 * @param axes
 *            for each external value, its open dimensions; null if it has none. Empty if no external value has any
 */
public record OpenSizes(List<@Nullable BitSet> axes) {
    public static final OpenSizes NONE = new OpenSizes(List.of());

    /** Returns whether no size is open. */
    public boolean isNone() {
        return axes.isEmpty();
    }

    /** Returns whether some size of an external value is open. */
    public boolean isOpen(int external) {
        return !isNone() && axes.get(external) != null;
    }

    /**
     * Returns the sizes that differ between two iterations; null if another property differs, such as the number of
     * dimensions of a value.
     */
    public static @Nullable OpenSizes between(@Nullable TensorSpec[] before, @Nullable TensorSpec[] after) {
        List<@Nullable BitSet> axes = new ArrayList<>(after.length);
        boolean differs = false;
        for (int i = 0; i < after.length; i++) {
            TensorSpec one = before[i];
            TensorSpec other = after[i];
            if ((one == null) != (other == null)) {
                return null;
            }
            if (one == null || other == null || one.equals(other)) {
                axes.add(null);
                continue;
            }
            int rank = one.shape().rank();
            if (one.dtype() != other.dtype() || rank != other.shape().rank()) {
                return null;
            }
            BitSet changed = new BitSet(rank);
            for (int axis = 0; axis < rank; axis++) {
                changed.set(axis, one.shape().dim(axis) != other.shape().dim(axis));
            }
            axes.add(changed);
            differs = true;
        }
        return differs ? new OpenSizes(axes) : NONE;
    }

    /** Returns whether all open sizes of others are open here too. */
    public boolean contains(OpenSizes others) {
        for (int i = 0; i < others.axes.size(); i++) {
            BitSet own = isNone() ? null : axes.get(i);
            BitSet other = others.axes.get(i);
            if (other != null) {
                BitSet more = (BitSet) other.clone();
                if (own != null) {
                    more.andNot(own);
                }
                if (!more.isEmpty()) {
                    return false;
                }
            }
        }
        return true;
    }

    /** Returns the sizes that are open in one of the two. */
    public OpenSizes and(OpenSizes others) {
        if (isNone() || others.isNone()) {
            return isNone() ? others : this;
        }
        List<@Nullable BitSet> all = new ArrayList<>(axes.size());
        for (int i = 0; i < axes.size(); i++) {
            BitSet own = axes.get(i);
            BitSet other = others.axes.get(i);
            if (own == null || other == null) {
                all.add(own == null ? other : own);
            } else {
                BitSet both = (BitSet) own.clone();
                both.or(other);
                all.add(both);
            }
        }
        return new OpenSizes(all);
    }

    /** Returns whether external values have the dimensions that are open here. */
    public boolean suit(@Nullable TensorSpec[] specs) {
        for (int i = 0; i < axes.size(); i++) {
            BitSet open = axes.get(i);
            TensorSpec spec = specs[i];
            if (open != null && (spec == null || open.length() > spec.shape().rank())) {
                return false;
            }
        }
        return true;
    }

    /** Returns the type of an external value, with −1 for open sizes. */
    public ArgType type(int external, TensorSpec spec) {
        long[] dims = spec.shape().dims();
        BitSet open = isNone() ? null : axes.get(external);
        if (open != null) {
            open.stream().forEach(axis -> dims[axis] = -1);
        }
        return ArgType.dense(spec.dtype(), dims);
    }

    /** Returns whether a value differs from the one for which a plan was compiled in open sizes only. */
    public boolean fits(int external, @Nullable TensorSpec compiled, @Nullable Object given) {
        if (compiled == null || !(given instanceof Tensor tensor)) {
            return compiled == null && !(given instanceof Tensor);
        }
        TensorSpec spec = tensor.spec();
        int rank = compiled.shape().rank();
        if (spec.dtype() != compiled.dtype() || rank != spec.shape().rank() || !spec.isRowMajor()) {
            return false;
        }
        BitSet open = axes.get(external);
        for (int axis = 0; axis < rank; axis++) {
            if (spec.shape().dim(axis) != compiled.shape().dim(axis) && (open == null || !open.get(axis))) {
                return false;
            }
        }
        return true;
    }

    /** Returns the open sizes of external values, in order. */
    public List<Long> sizes(@Nullable Object[] given) {
        List<Long> sizes = new ArrayList<>();
        for (int i = 0; i < axes.size(); i++) {
            BitSet open = axes.get(i);
            if (open != null && given[i] instanceof Tensor tensor) {
                for (int axis = open.nextSetBit(0); axis >= 0; axis = open.nextSetBit(axis + 1)) {
                    sizes.add(tensor.shape().dim(axis));
                }
            }
        }
        return sizes;
    }
}
