package io.seriatim.executor.lower;

import io.seriatim.executor.ir.Access;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Inference;
import io.seriatim.tensor.Tensor;
import org.jspecify.annotations.Nullable;

/** The inferred types and constants of an operation's inputs. */
final class KnownOperands implements Inference.Source {
    private final Access access;
    private final @Nullable ArgType[] types;
    private final ValueTable values;
    private final boolean forRun;

    /**
     * Creates the source of an operation.
     *
     * @param types
     *            by value, its inferred type
     * @param forRun
     *            whether all sizes are known
     */
    KnownOperands(Access access, @Nullable ArgType[] types, ValueTable values, boolean forRun) {
        this.access = access;
        this.types = types;
        this.values = values;
        this.forRun = forRun;
    }

    @Override
    public boolean isForRun() {
        return forRun;
    }

    @Override
    public @Nullable ArgType type(String slot, int index) {
        int value = access.read(access.op().input(slot).get(index));
        return value < 0 ? null : types[value];
    }

    @Override
    public long @Nullable [] values(String slot, int index) {
        Tensor constant = constant(slot, index);
        return constant == null ? null : Inference.Source.whole(constant);
    }

    @Override
    public double @Nullable [] numbers(String slot, int index) {
        Tensor constant = constant(slot, index);
        return constant == null ? null : constant.toDoubleArray();
    }

    private @Nullable Tensor constant(String slot, int index) {
        int value = access.read(access.op().input(slot).get(index));
        return value < 0 ? null : values.constant(value);
    }
}
