package io.seriatim.executor.ir;

import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;

/**
 * An operand of a {@link Stage}: a value or a part of it, seen in some layout.
 *
 * @param source
 *            where its memory is
 * @param offset
 *            where its first element begins, in bytes from the start of the source
 * @param spec
 *            type, shape and layout
 */
public record Arg(Source source, long offset, TensorSpec spec) {
    /** Where memory is. */
    public sealed interface Source {
    }

    /** A value of the plan. */
    public record Value(int number) implements Source {
    }

    /** Memory for the time of the task. */
    public record Temporary(int number) implements Source {
    }

    /** A tensor of the host that is never written. */
    public record Constant(Tensor tensor) implements Source {
    }

    /** The key of an operation's random numbers in this run. */
    public record Key(Access access) implements Source {
    }

    /** The value that this is, or −1. */
    public int value() {
        return source instanceof Value(int number) ? number : -1;
    }

    /** Whether this is all of a value, as it lies in memory. */
    public boolean isWhole(ValueTable values) {
        return source instanceof Value(int number) && offset == 0 && spec.equals(values.spec(number));
    }

    /**
     * Whether this is a value or a part of it whose elements lie one after the other: then a kernel may write here what
     * it would write to a value of its own.
     */
    public boolean isDense() {
        return source instanceof Value && spec.isRowMajor();
    }

    public Arg of(int number) {
        return new Arg(new Value(number), offset, spec);
    }
}
