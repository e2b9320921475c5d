package io.seriatim.executor.lower;

import io.seriatim.executor.ir.Access;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.LodSlot;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.Tensor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The inferred types and constants of an operation's inputs. */
final class KnownOperands implements Inference.Source {
    private final Access access;
    private final @Nullable ArgType[] types;
    private final ValueTable values;
    private final boolean forRun;
    private boolean computed;

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

    /** Returns why the operation cannot be lowered; null if all elements that its lowering needs are constants. */
    @Nullable
    String missing(Operation schema) {
        OpDesc op = access.op();
        for (String slot : schema.values()) {
            for (String name : op.input(slot)) {
                if (values.constant(access.read(name)) == null) {
                    return "it depends on the elements of '" + name + "'";
                }
            }
        }
        for (String slot : schema.lodInputs()) {
            for (String name : op.input(LodSlot.of(slot))) {
                ArgType type = types[access.read(name)];
                // The shape of one level of offsets gives the number of sequences; that of several levels does not.
                if (type != null && type.dims().length != 1 && values.constant(access.read(name)) == null) {
                    return "it depends on the levels of '" + name + "'";
                }
            }
        }
        return null;
    }

    @Override
    public Object computed(Supplier<?> computation) {
        computed = true;
        return computation.get();
    }

    /** Returns whether a computation of the operation's own was run, which may not be a function of the operands. */
    boolean hasComputed() {
        return computed;
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
