package io.seriatim.executor.ir;

import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;

/**
 * An operand of a {@link Stage}: a view of a value or of a part of it.
 *
 * @param source
 *            the memory of the operand
 * @param offset
 *            the offset of the first element in the source, in bytes
 * @param spec
 *            the type, shape and layout of the view
 */
public record Arg(Source source, long offset, TensorSpec spec) {
    /** An operand without elements begins at the start of its source: an offset could lie beyond the source's end. */
    public Arg {
        offset = spec.shape().size() == 0 ? 0 : offset;
    }

    /** The memory of an operand. */
    public sealed interface Source {
    }

    /** A value of the plan. */
    public record Value(int number) implements Source {
    }

    /** Temporary memory of a task, which is free after the task. */
    public record Temporary(int number) implements Source {
    }

    /** A tensor in host memory that is never written. */
    public record Constant(Tensor tensor) implements Source {
    }

    /** The key of an operation's random number generator in the current run. */
    public record Key(Access access) implements Source {
    }

    /** Returns the number of the value that this operand views, or −1. */
    public int value() {
        return source instanceof Value(int number) ? number : -1;
    }

    /** Returns whether this operand is a whole value, with its own layout. */
    public boolean isWhole(ValueTable values) {
        return source instanceof Value(int number) && offset == 0 && spec.equals(values.spec(number));
    }

    /** Returns whether this operand is a whole value in row-major order, in any shape. */
    public boolean isAll(ValueTable values) {
        TensorSpec all = source instanceof Value(int number) ? values.spec(number) : null;
        return all != null && offset == 0 && all.isRowMajor() && spec.isRowMajor() && spec.dtype() == all.dtype()
                && spec.bytes() == all.bytes();
    }

    /**
     * Returns whether this operand is a value or a contiguous, row-major part of one. A kernel may write to it as to a
     * separate value.
     */
    public boolean isDense() {
        return source instanceof Value && spec.isRowMajor();
    }

    public Arg of(int number) {
        return new Arg(new Value(number), offset, spec);
    }
}
