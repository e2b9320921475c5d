package io.seriatim.executor.pass;

import io.seriatim.tensor.Shape;
import org.jspecify.annotations.Nullable;

/** Whole numbers that grow evenly along each axis: element [i0, i1, …] is base + Σ stride k · ik. */
final class IndexGrid {
    private final long base;
    private final Shape shape;
    private final long[] strides;

    private IndexGrid(long base, Shape shape, long[] strides) {
        this.base = base;
        this.shape = shape;
        this.strides = strides;
    }

    /** Returns a grid whose elements grow evenly in row-major order. */
    static IndexGrid range(long start, long step, Shape shape) {
        long[] strides = shape.strides();
        for (int i = 0; i < strides.length; i++) {
            strides[i] *= step;
        }
        return new IndexGrid(start, shape, strides);
    }

    /** Returns the grid that has some elements, given in row-major order; null if they do not grow evenly. */
    static @Nullable IndexGrid of(long[] elements, Shape shape) {
        if (elements.length == 0) {
            return null;
        }
        long[] memory = shape.strides();
        long[] strides = new long[memory.length];
        for (int i = 0; i < strides.length; i++) {
            strides[i] = shape.dim(i) == 1 ? 0 : elements[(int) memory[i]] - elements[0];
        }
        for (int at = 0; at < elements.length; at++) {
            long expected = elements[0];
            for (int i = 0; i < strides.length; i++) {
                expected += at / memory[i] % shape.dim(i) * strides[i];
            }
            if (elements[at] != expected) {
                return null;
            }
        }
        return new IndexGrid(elements[0], shape, strides);
    }

    long base() {
        return base;
    }

    Shape shape() {
        return shape;
    }

    long stride(int axis) {
        return shape.dim(axis) == 1 ? 0 : strides[axis];
    }

    /** Returns whether all elements are from one number to another, also if they overflow. */
    boolean isWithin(long least, long most) {
        return bound(-1) >= least && bound(1) <= most;
    }

    /** Returns whether all elements are less than all those of another grid. */
    boolean isBelow(IndexGrid other) {
        return bound(1) < other.bound(-1);
    }

    /** Returns whether no element is less than any of another grid. */
    boolean isNotBelow(IndexGrid other) {
        return bound(-1) >= other.bound(1);
    }

    /** The smallest or largest element. Exact as long as all summands are: what overflows is far outside. */
    private double bound(int sign) {
        double bound = base;
        for (int i = 0; i < strides.length; i++) {
            bound += Math.max(0, sign * (double) strides[i]) * sign * (shape.dim(i) - 1);
        }
        return bound;
    }

    /**
     * Returns a view of the grid's elements in row-major order; null if its elements do not grow evenly.
     *
     * @param offset
     *            the place of the first element
     * @param viewed
     *            the shape of the view
     * @param steps
     *            the distance of neighbours along each axis of the view, in elements
     */
    @Nullable
    IndexGrid view(long offset, Shape viewed, long[] steps) {
        // Axes along which the numbers go on evenly are one, the last axis first.
        int count = 0;
        long[] memory = new long[strides.length];
        long[] lengths = new long[strides.length];
        long[] growth = new long[strides.length];
        long distance = 1;
        for (int i = strides.length - 1; i >= 0; i--) {
            if (shape.dim(i) > 1) {
                if (count > 0 && strides[i] == growth[count - 1] * lengths[count - 1]) {
                    lengths[count - 1] *= shape.dim(i);
                } else {
                    memory[count] = distance;
                    lengths[count] = shape.dim(i);
                    growth[count] = strides[i];
                    count++;
                }
                distance *= shape.dim(i);
            }
        }
        long first = base;
        long rest = offset;
        long[] last = new long[count];
        for (int i = count - 1; i >= 0; i--) {
            last[i] = rest / memory[i];
            first += last[i] * growth[i];
            rest %= memory[i];
        }
        long[] grown = new long[steps.length];
        for (int k = 0; k < steps.length; k++) {
            if (viewed.dim(k) == 1 || steps[k] == 0) {
                continue;
            }
            int axis = count - 1;
            while (axis > 0 && memory[axis] > steps[k]) {
                axis--;
            }
            if (axis < 0 || steps[k] < 0 || steps[k] % memory[axis] != 0) {
                return null;
            }
            grown[k] = steps[k] / memory[axis] * growth[axis];
            last[axis] += steps[k] / memory[axis] * (viewed.dim(k) - 1);
        }
        for (int i = 0; i < count; i++) {
            if (last[i] >= lengths[i]) {
                return null;
            }
        }
        return new IndexGrid(first, viewed, grown);
    }

    /** Returns the grid expanded as operands of elementwise functions are. */
    IndexGrid expand(Shape to) {
        long[] expanded = new long[to.rank()];
        int added = to.rank() - shape.rank();
        for (int i = 0; i < shape.rank(); i++) {
            expanded[added + i] = stride(i);
        }
        return new IndexGrid(base, to, expanded);
    }

    /** Returns the part at a place on the last axis, without that axis. */
    IndexGrid select(long place) {
        int rank = shape.rank() - 1;
        long[] others = new long[rank];
        System.arraycopy(strides, 0, others, 0, rank);
        return new IndexGrid(base + place * stride(rank), shape.slice(0, rank), others);
    }

    /** Returns the sum of this grid and a multiple of another of the same shape. */
    IndexGrid plus(IndexGrid other, long factor) {
        long[] sums = new long[strides.length];
        for (int i = 0; i < sums.length; i++) {
            sums[i] = strides[i] + factor * other.strides[i];
        }
        return new IndexGrid(base + factor * other.base, shape, sums);
    }

    /** Returns whether all elements are equal. */
    boolean isConstant() {
        for (int i = 0; i < strides.length; i++) {
            if (stride(i) != 0) {
                return false;
            }
        }
        return true;
    }
}
