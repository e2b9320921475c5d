package io.seriatim.graph.op;

import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Lod;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The part of a {@link Lowering} that gives access to the attributes, inputs and outputs of the operation. */
abstract sealed class LoweringArguments permits LoweringSteps {
    private final OpDesc op;
    private final Attrs attrs;
    private final Inference.Source inputs;
    private final Map<String, List<@Nullable ArgType>> outputs;
    private final @Nullable PaddleRandom random;

    LoweringArguments(OpDesc op, Operation schema, Inference.Source inputs,
            Map<String, List<@Nullable ArgType>> outputs, @Nullable PaddleRandom random) {
        this.op = op;
        this.attrs = new Attrs(op, schema);
        this.inputs = inputs;
        this.outputs = outputs;
        this.random = random;
    }

    /**
     * The operation's type.
     *
     * @return its name
     */
    public String type() {
        return op.type();
    }

    /**
     * The operation.
     *
     * @return its description
     */
    public OpDesc op() {
        return op;
    }

    /**
     * The attributes.
     *
     * @return with defaults
     */
    public Attrs attrs() {
        return attrs;
    }

    /**
     * What is known of the inputs.
     *
     * @return their types, and the values of those that decide on shapes
     */
    public Inference.Source source() {
        return inputs;
    }

    /**
     * Paddle's random numbers.
     *
     * @return null if those of the run-time are wanted
     */
    public @Nullable PaddleRandom paddleRandom() {
        return random;
    }

    /**
     * Whether an input slot has a variable.
     *
     * @param slot
     *            its name
     * @return false if it is absent or empty
     */
    public boolean has(String slot) {
        return count(slot) > 0;
    }

    /**
     * How many variables an input slot has.
     *
     * @param slot
     *            its name
     * @return from 0
     */
    public int count(String slot) {
        return op.input(slot).size();
    }

    /**
     * Whether an output is wanted.
     *
     * @param slot
     *            its slot
     * @return false if it has no variable
     */
    public boolean wants(String slot) {
        return wants(slot, 0);
    }

    /**
     * Whether an output is wanted.
     *
     * @param slot
     *            its slot
     * @param index
     *            its place in the slot
     * @return false if it has no variable there
     */
    public boolean wants(String slot, int index) {
        List<String> names = op.output(slot);
        return index < names.size() && !names.get(index).equals(GradientRule.EMPTY);
    }

    /**
     * How many variables an output slot has.
     *
     * @param slot
     *            its name
     * @return from 0
     */
    public int outputs(String slot) {
        return op.output(slot).size();
    }

    /**
     * Checks the size of an array of numbers of 8 bytes that the operation makes, before it is made.
     *
     * @param purpose
     *            what it holds, for messages, such as {@code indexes}
     * @param length
     *            how many numbers it holds
     * @return the length
     * @throws IllegalArgumentException
     *             if it does not fit into the memory of the host, or is longer than an array can be
     */
    public int arrayLength(String purpose, long length) {
        return WorkingMemory.length(purpose, length);
    }

    /**
     * What an input is.
     *
     * @param slot
     *            its slot
     * @param index
     *            its place in the slot
     * @return its type
     */
    public ArgType type(String slot, int index) {
        ArgType type = index < count(slot) ? inputs.type(slot, index) : null;
        if (type == null) {
            throw new IllegalArgumentException(
                    "Operation '" + op.type() + "' needs a tensor in slot " + slot + ", place " + index);
        }
        return type;
    }

    /**
     * Whether an input holds some rows of a tensor.
     *
     * @param slot
     *            its slot
     * @return false for tensors
     */
    public boolean isRows(String slot) {
        return type(slot, 0).kind() == ArgType.Kind.ROWS;
    }

    /**
     * What was inferred of an output.
     *
     * @param slot
     *            its slot
     * @param index
     *            its place in the slot
     * @return its type
     */
    public ArgType outType(String slot, int index) {
        List<@Nullable ArgType> types = outputs.get(slot);
        ArgType type = types == null || index >= types.size() ? null : types.get(index);
        if (type == null) {
            throw new IllegalStateException(
                    "Nothing was inferred of output " + slot + ", place " + index + ", of operation '" + op.type()
                            + "'; its inference must set it");
        }
        return type;
    }

    /**
     * An input.
     *
     * @param slot
     *            its slot
     * @return the slot's first variable; the values, if it holds rows
     */
    public Operand in(String slot) {
        return in(slot, 0);
    }

    /**
     * An input.
     *
     * @param slot
     *            its slot
     * @param index
     *            its place in the slot
     * @return the variable; the values [rows, ...], if it holds rows
     */
    public Operand in(String slot, int index) {
        ArgType type = type(slot, index);
        long[] dims = type.dims();
        if (type.kind() == ArgType.Kind.ROWS) {
            dims[0] = type.rowCount();
        }
        return new Operand(new Operand.Source.Input(slot, index), 0, TensorSpec.of(type.dtype(), dims));
    }

    /**
     * An input that may be left out.
     *
     * @param slot
     *            its slot
     * @return null if it is
     */
    public @Nullable Operand optional(String slot) {
        return has(slot) ? in(slot) : null;
    }

    /**
     * All inputs of a slot.
     *
     * @param slot
     *            its name
     * @return in order
     */
    public List<Operand> ins(String slot) {
        List<Operand> all = new ArrayList<>();
        for (int i = 0; i < count(slot); i++) {
            all.add(in(slot, i));
        }
        return all;
    }

    /**
     * The indexes of the rows that an input holds.
     *
     * @param slot
     *            its slot
     * @param index
     *            its place in the slot
     * @return int64 [rows]
     */
    public Operand rowIndexes(String slot, int index) {
        return new Operand(new Operand.Source.RowIndexes(slot, index), 0,
                TensorSpec.of(DType.INT64, type(slot, index).rowCount()));
    }

    /**
     * The values of an input that decides on shapes.
     *
     * @param slot
     *            its slot
     * @return its elements, or null if it is absent
     */
    public long @Nullable [] values(String slot) {
        return has(slot) ? inputs.values(slot, 0) : null;
    }

    /**
     * The values of an input that decides on shapes, fractions included.
     *
     * @param slot
     *            its slot
     * @return its elements, or null if it is absent
     */
    public double @Nullable [] numbers(String slot) {
        return numbers(slot, 0);
    }

    /**
     * The values of an input that decides on shapes, fractions included.
     *
     * @param slot
     *            its slot
     * @param index
     *            its place in the slot
     * @return its elements, or null if it is absent
     */
    public double @Nullable [] numbers(String slot, int index) {
        return index < count(slot) ? inputs.numbers(slot, index) : null;
    }

    /**
     * Computes something from the values of the inputs, or returns what {@link Inference#computed} computed before.
     *
     * @param type
     *            what is computed; always the same for a type of operations
     * @param computation
     *            computes it
     * @param <T>
     *            its type
     * @return the result
     */
    public <T> T computed(Class<T> type, Supplier<? extends T> computation) {
        return type.cast(inputs.computed(computation));
    }

    /**
     * The values of a list of one-element inputs that decide on shapes.
     *
     * @param slot
     *            its slot
     * @return one for each
     */
    public long[] listed(String slot) {
        long[] all = new long[count(slot)];
        for (int i = 0; i < all.length; i++) {
            long[] values = inputs.values(slot, i);
            if (values == null || values.length == 0) {
                throw new IllegalStateException(
                        "Slot " + slot + " of operation '" + op.type() + "' must be declared with values()");
            }
            all[i] = values[0];
        }
        return all;
    }

    /**
     * The offsets of an input, in the form of {@link Lod#toTensor}.
     *
     * @param slot
     *            its slot, declared with {@link Operation.Builder#readsLod}
     * @return int64; no elements if there are none
     */
    public Operand lod(String slot) {
        return lod(slot, 0);
    }

    /**
     * The offsets of an input, in the form of {@link Lod#toTensor}.
     *
     * @param slot
     *            its slot, declared with {@link Operation.Builder#readsLod}
     * @param index
     *            its place in the slot
     * @return int64; no elements if there are none
     */
    public Operand lod(String slot, int index) {
        String companion = LodSlot.of(slot);
        if (index < count(companion)) {
            return in(companion, index);
        }
        Tensor none = Lod.NONE.toTensor();
        return new Operand(new Operand.Source.Constant(none), none.offset(), none.spec());
    }

    /**
     * The offsets of an input that decide on shapes.
     *
     * @param slot
     *            its slot, whose {@link LodSlot#of companion} is declared with values()
     * @return the offsets
     */
    public Lod lodValue(String slot) {
        return lodValue(slot, 0);
    }

    /**
     * The offsets of an input that decide on shapes.
     *
     * @param slot
     *            its slot, whose {@link LodSlot#of companion} is declared with values()
     * @param index
     *            its place in the slot
     * @return the offsets
     */
    public Lod lodValue(String slot, int index) {
        String companion = LodSlot.of(slot);
        if (index >= count(companion)) {
            return Lod.NONE;
        }
        long[] values = inputs.values(companion, index);
        if (values == null) {
            throw new IllegalStateException(
                    "Slot " + companion + " of operation '" + op.type() + "' must be declared with values()");
        }
        return Lod.ofElements(values, type(companion, index).dims().length);
    }

    /**
     * Whether the offsets of an output are wanted.
     *
     * @param slot
     *            its slot, declared with {@link Operation.Builder#makesLod}
     * @return false if no one reads them
     */
    public boolean wantsLod(String slot) {
        return wants(LodSlot.of(slot));
    }

    /**
     * An output to write to.
     *
     * @param slot
     *            its slot
     * @return the slot's first variable; the values, if it holds rows
     */
    public Operand output(String slot) {
        return output(slot, 0);
    }

    /**
     * An output to write to.
     *
     * @param slot
     *            its slot
     * @param index
     *            its place in the slot
     * @return the variable; the values [rows, ...], if it holds rows
     */
    public Operand output(String slot, int index) {
        ArgType type = outType(slot, index);
        long[] dims = type.dims();
        if (type.kind() == ArgType.Kind.ROWS) {
            dims[0] = type.rowCount();
        }
        return new Operand(new Operand.Source.Output(slot, index), 0, TensorSpec.of(type.dtype(), dims));
    }

    /**
     * The indexes of the rows that an output holds, to write to.
     *
     * @param slot
     *            its slot
     * @return int64 [rows]
     */
    public Operand outputRowIndexes(String slot) {
        return new Operand(new Operand.Source.OutputRowIndexes(slot, 0), 0,
                TensorSpec.of(DType.INT64, outType(slot, 0).rowCount()));
    }

    /**
     * The key of this operation's random numbers in this run.
     *
     * @return int64 [2]
     */
    public Operand randomKey() {
        return new Operand(new Operand.Source.RandomKey(), 0, TensorSpec.of(DType.INT64, 2));
    }
}
