package io.seriatim.graph.op;

import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Fill;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.kernel.Computation;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Collects the steps of an operation whose shapes are known. Written like the formula:
 * {@code l.out("Out", l.run(Unary.of(EXP), l.in("X")))}. Results of steps are temporary memory, unless they go to an
 * output as they are: then they are computed in it.
 */
public final class Lowering {
    private final OpDesc op;
    private final Attrs attrs;
    private final Inference.Source inputs;
    private final Map<String, List<@Nullable ArgType>> outputs;
    private final @Nullable PaddleRandom random;
    private final List<Step> steps = new ArrayList<>();
    private final Operation schema;
    private final List<TensorSpec> temporaries = new ArrayList<>();
    private final Map<Integer, Operand.Source.Output> placed = new HashMap<>();
    private final Map<Operand.Source.Output, Operand.Source.Input> shared = new HashMap<>();
    private final Map<Operand.Source.Output, Operand> aliases = new HashMap<>();

    /** The rule by which an operation comes down to steps. */
    @FunctionalInterface
    public interface Rule {
        /**
         * Adds the steps.
         *
         * @param lowering
         *            where they go
         */
        void lower(Lowering lowering);
    }

    /**
     * Of an operation.
     *
     * @param op
     *            its description
     * @param schema
     *            its schema
     * @param inputs
     *            types of its inputs, all dimensions known
     * @param outputs
     *            what was inferred
     * @param random
     *            Paddle's random numbers, or null for those of the run-time
     */
    public Lowering(OpDesc op, Operation schema, Inference.Source inputs, Map<String, List<@Nullable ArgType>> outputs,
            @Nullable PaddleRandom random) {
        this.op = op;
        this.schema = schema;
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
        return has(slot) ? inputs.numbers(slot, 0) : null;
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

    /**
     * A tensor that is made once.
     *
     * @param tensor
     *            of the host; not to be written any more
     * @return an operand
     */
    public Operand constant(Tensor tensor) {
        return new Operand(new Operand.Source.Constant(tensor), tensor.offset(), tensor.spec());
    }

    /**
     * A number as a tensor without dimensions.
     *
     * @param dtype
     *            its type
     * @param value
     *            its value
     * @return an operand that broadcasts to any shape
     */
    public Operand number(DType dtype, double value) {
        return fill(value, TensorSpec.of(dtype));
    }

    /**
     * A tensor of one value.
     *
     * @param value
     *            of each element
     * @param spec
     *            what it is
     * @return its operand
     */
    public Operand fill(double value, TensorSpec spec) {
        Operand result = temporary(spec.rowMajor());
        into(new Fill(value), List.of(), List.of(result));
        return result;
    }

    /**
     * Memory for the time of the operation; it holds anything.
     *
     * @param spec
     *            what it is, row-major
     * @return its operand
     */
    public Operand temporary(TensorSpec spec) {
        temporaries.add(spec);
        return new Operand(new Operand.Source.Temporary(temporaries.size() - 1), 0, spec);
    }

    /**
     * Computes something that has one result, or of whose results the first is wanted.
     *
     * @param computation
     *            what
     * @param operands
     *            its inputs; null for those that are left out
     * @return the result, in temporary memory
     */
    public Operand run(Computation computation, @Nullable Operand... operands) {
        return runAll(computation, operands).getFirst();
    }

    /**
     * Computes something.
     *
     * @param computation
     *            what
     * @param operands
     *            its inputs; null for those that are left out
     * @return the results, in temporary memory
     */
    public List<Operand> runAll(Computation computation, @Nullable Operand... operands) {
        TensorSpec[] specs = Arrays.stream(operands).map(each -> each == null ? null : each.spec())
                .toArray(TensorSpec[]::new);
        List<Operand> results = new ArrayList<>();
        try {
            for (TensorSpec spec : computation.infer(specs)) {
                results.add(temporary(spec));
            }
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "Operation '" + op.type() + "' (outputs " + op.outputNames() + "): " + e.getMessage(), e);
        }
        steps.add(new Step(new Step.Work.Compute(computation), Arrays.asList(operands),
                new ArrayList<@Nullable Operand>(results)));
        return results;
    }

    /**
     * Computes into given memory.
     *
     * @param computation
     *            what
     * @param from
     *            its inputs; null for those that are left out
     * @param to
     *            its outputs; null for those that are not wanted and may be left out
     */
    public void into(Computation computation, List<? extends @Nullable Operand> from,
            List<? extends @Nullable Operand> to) {
        steps.add(
                new Step(new Step.Work.Compute(computation), new ArrayList<@Nullable Operand>(from),
                        new ArrayList<@Nullable Operand>(to)));
    }

    /**
     * Calls a Java function on tensors of the host.
     *
     * @param name
     *            for messages and traces
     * @param function
     *            the function
     * @param from
     *            its inputs
     * @param to
     *            its outputs
     */
    public void call(String name, Step.HostFunction function, List<? extends @Nullable Operand> from,
            List<? extends @Nullable Operand> to) {
        steps.add(
                new Step(new Step.Work.Call(name, function), new ArrayList<@Nullable Operand>(from),
                        new ArrayList<@Nullable Operand>(to)));
    }

    /**
     * Gives an output its value.
     *
     * @param slot
     *            its slot; nothing happens if it is not wanted
     * @param value
     *            of the output's shape; it is cast if it has another type
     */
    public void out(String slot, Operand value) {
        out(slot, 0, value);
    }

    /**
     * Gives an output its value.
     *
     * @param slot
     *            its slot; nothing happens if it is not wanted
     * @param index
     *            its place in the slot
     * @param value
     *            of the output's shape; it is cast if it has another type
     */
    public void out(String slot, int index, Operand value) {
        if (!wants(slot, index)) {
            return;
        }
        Operand to = output(slot, index);
        if (!value.shape().equals(to.shape())) {
            throw new IllegalStateException(
                    "Operation '" + op.type() + "' computes " + value.spec() + " for output " + slot
                            + ", but inference says " + to.spec());
        }
        if (value.source() instanceof Operand.Source.Temporary(int number) && value.offset() == 0
                && !placed.containsKey(number)
                && temporaries.get(number).bytes() == to.spec().bytes() && value.spec().equals(to.spec())) {
            placed.put(number, new Operand.Source.Output(slot, index));
        } else {
            into(new Copy(to.dtype()), List.of(value), List.of(to));
        }
    }

    /**
     * An output that is an input changed in place: the same variable, or else a copy of it.
     *
     * @param input
     *            the input slot
     * @param output
     *            the output slot
     * @return to be read and written
     */
    public Operand mutable(String input, String output) {
        return mutable(input, output, 0);
    }

    /**
     * An output that is an input changed in place: the same variable, or else a copy of it.
     *
     * @param input
     *            the input slot
     * @param output
     *            the output slot
     * @param index
     *            the place in both slots
     * @return to be read and written
     */
    public Operand mutable(String input, String output, int index) {
        Operand from = in(input, index);
        if (!wants(output, index)) {
            return copy(from);
        }
        Operand.Source.Output source = new Operand.Source.Output(output, index);
        Operand to = new Operand(source, 0, from.spec());
        if (op.input(input).get(index).equals(op.output(output).get(index))) {
            shared.put(source, new Operand.Source.Input(input, index));
        } else {
            into(Copy.PLAIN, List.of(from), List.of(to));
        }
        return to;
    }

    /**
     * An output that is a further name of an input or another output, or of a part of it: whatever writes the one
     * afterwards, also other operations, is seen through the other. The output's slot must be declared with
     * {@link Operation.Builder#aliases}.
     *
     * @param output
     *            the output slot
     * @param index
     *            the place in the slot
     * @param of
     *            all of an input or output, or a part whose elements lie one after the other
     */
    public void alias(String output, int index, Operand of) {
        boolean isVariable = of.source() instanceof Operand.Source.Input
                || of.source() instanceof Operand.Source.Output;
        if (!schema.aliases().contains(output) || !isVariable || !of.spec().isRowMajor()) {
            throw new IllegalStateException("Output " + output + " of operation '" + op.type()
                    + "' must be declared as an alias, and be one of dense memory of a variable, but is to be one of "
                    + of);
        }
        if (wants(output, index)) {
            aliases.put(new Operand.Source.Output(output, index), of);
        }
    }

    /**
     * A row-major copy.
     *
     * @param operand
     *            what is copied
     * @return temporary memory
     */
    public Operand copy(Operand operand) {
        return run(Copy.PLAIN, operand);
    }

    /**
     * With another element type.
     *
     * @param operand
     *            what is cast
     * @param dtype
     *            to which type
     * @return the operand itself if it has the type
     */
    public Operand cast(Operand operand, DType dtype) {
        return operand.dtype() == dtype ? operand : run(new Copy(dtype), operand);
    }

    /**
     * The same elements with other dimensions.
     *
     * @param operand
     *            which elements
     * @param dims
     *            as many elements
     * @return a view, or a copy if that needs one
     */
    public Operand reshape(Operand operand, long... dims) {
        return (operand.isRowMajor() ? operand : copy(operand)).reshape(dims);
    }

    /**
     * Expands to a shape.
     *
     * @param operand
     *            what is expanded
     * @param shape
     *            to which shape
     * @return a view, only to be read
     */
    public Operand expand(Operand operand, Shape shape) {
        return operand.expand(shape);
    }

    /**
     * A function of each element.
     *
     * @param function
     *            which
     * @param x
     *            the elements
     * @return the result
     */
    public Operand unary(Unary.Function function, Operand x) {
        return run(Unary.of(function), x);
    }

    /**
     * x scaled and moved.
     *
     * @param x
     *            the elements
     * @param scale
     *            the factor
     * @param bias
     *            is added
     * @return scale · x + bias
     */
    public Operand linear(Operand x, double scale, double bias) {
        return run(new Unary(Unary.Function.LINEAR, (float) scale, (float) bias), x);
    }

    /**
     * A function of two elements, which broadcast.
     *
     * @param function
     *            which
     * @param x
     *            the left one
     * @param y
     *            the right one
     * @return the result
     */
    public Operand binary(Binary.Function function, Operand x, Operand y) {
        return run(Binary.of(function), x, y);
    }

    /** What was collected. */
    Lowered lowered() {
        return new Lowered(
                steps.stream().map(step -> new Step(step.work(), placed(step.inputs()), placed(step.outputs())))
                        .toList(),
                temporaries, shared, aliases);
    }

    private List<@Nullable Operand> placed(List<@Nullable Operand> operands) {
        List<@Nullable Operand> changed = new ArrayList<>(operands);
        changed.replaceAll(operand -> {
            if (operand != null && operand.source() instanceof Operand.Source.Temporary(int number)) {
                Operand.Source.Output output = placed.get(number);
                return output == null ? operand : new Operand(output, operand.offset(), operand.spec());
            }
            return operand;
        });
        return changed;
    }
}
