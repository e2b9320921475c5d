package io.seriatim.graph.op;

import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Lod;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Fill;
import io.seriatim.tensor.kernel.Computation;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The part of a {@link Lowering} that collects steps and their memory. */
abstract sealed class LoweringSteps extends LoweringArguments permits Lowering {
    private final List<Step> steps = new ArrayList<>();
    private final Operation schema;
    private final List<TensorSpec> temporaries = new ArrayList<>();
    private final Map<Integer, Operand.Source.Output> placed = new HashMap<>();
    private final Map<Operand.Source.Output, Operand.Source.Input> shared = new HashMap<>();
    private final Map<Operand.Source.Output, Operand> aliases = new HashMap<>();

    LoweringSteps(OpDesc op, Operation schema, Inference.Source inputs, Map<String, List<@Nullable ArgType>> outputs,
            @Nullable PaddleRandom random) {
        super(op, schema, inputs, outputs, random);
        this.schema = schema;
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
     * Uninitialised memory for the time of the operation.
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
                    "Operation '" + op().type() + "' (outputs " + op().outputNames() + "): " + e.getMessage(), e);
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
     * Calls a Java function on tensors of the host, whose elements are real.
     *
     * @param name
     *            for messages and traces
     * @param function
     *            the function
     * @param from
     *            its inputs
     * @param to
     *            its outputs
     * @throws IllegalArgumentException
     *             if an input is complex
     */
    public void call(String name, Step.HostFunction function, List<? extends @Nullable Operand> from,
            List<? extends @Nullable Operand> to) {
        for (Operand operand : from) {
            if (operand != null && operand.dtype().isComplex()) {
                throw new IllegalArgumentException("Operation '" + op().type() + "' (outputs " + op().outputNames()
                        + ") computes with real numbers, but gets " + operand.spec() + " in its step '" + name
                        + "': compute real and imaginary part on their own, or cast it");
            }
        }
        callWithComplex(name, function, from, to);
    }

    /**
     * Calls a Java function on tensors of the host, whose elements may be complex.
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
    public void callWithComplex(String name, Step.HostFunction function, List<? extends @Nullable Operand> from,
            List<? extends @Nullable Operand> to) {
        // Functions compute with arrays of the elements of their operands.
        Stream.of(from, to).flatMap(List::stream).filter(Objects::nonNull).map(Operand::shape).distinct()
                .forEach(shape -> arrayLength("the elements " + shape + " of its step '" + name + "'", shape.size()));
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
                    "Operation '" + op().type() + "' computes " + value.spec() + " for output " + slot
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
     * Memory to write to: that of an output, or temporary memory if the output is not wanted.
     *
     * @param slot
     *            the output slot
     * @param spec
     *            the output's type and shape
     * @return to be written by steps
     */
    public Operand outputOrTemporary(String slot, TensorSpec spec) {
        return wants(slot) ? output(slot) : temporary(spec);
    }

    /**
     * Gives an output offsets that are known before the run.
     *
     * @param slot
     *            its slot, declared with {@link Operation.Builder#makesLod}; nothing happens if no one reads them
     * @param lod
     *            the offsets
     */
    public void outLod(String slot, Lod lod) {
        outLod(slot, 0, lod);
    }

    /**
     * Gives an output offsets that are known before the run.
     *
     * @param slot
     *            its slot, declared with {@link Operation.Builder#makesLod}; nothing happens if no one reads them
     * @param index
     *            its place in the slot
     * @param lod
     *            the offsets
     */
    public void outLod(String slot, int index, Lod lod) {
        out(LodSlot.of(slot), index, constant(lod.toTensor()));
    }

    /**
     * An output that holds an input changed in place: the same variable if the operation names it twice, otherwise a
     * copy.
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
     * An output that holds an input changed in place: the same variable if the operation names it twice, otherwise a
     * copy.
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
        if (op().input(input).get(index).equals(op().output(output).get(index))) {
            shared.put(source, new Operand.Source.Input(input, index));
        } else {
            into(Copy.PLAIN, List.of(from), List.of(to));
        }
        return to;
    }

    /**
     * Makes an output a further name of an input or another output, or of a part of it: later writes to one, also by
     * other operations, change the other. The output's slot must be declared with {@link Operation.Builder#aliases}.
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
            throw new IllegalStateException("Output " + output + " of operation '" + op().type()
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
     * Collects the steps that a rule adds apart from the others.
     *
     * @param rule
     *            adds steps
     * @return its steps, in order; they run only where they are given to {@link #add}
     */
    public List<Step> collect(Runnable rule) {
        int from = steps.size();
        rule.run();
        List<Step> last = steps.subList(from, steps.size());
        List<Step> collected = List.copyOf(last);
        last.clear();
        return collected;
    }

    /**
     * Adds a step.
     *
     * @param step
     *            on operands of this lowering
     */
    public void add(Step step) {
        steps.add(step);
    }

    /**
     * The memory of which an operand is all or a part.
     *
     * @param view
     *            of an input, an output, a temporary or a constant
     * @return all of it, row-major
     */
    public Operand whole(Operand view) {
        return switch (view.source()) {
            case Operand.Source.Input(String slot, int index) -> in(slot, index);
            case Operand.Source.Output(String slot, int index) -> output(slot, index);
            case Operand.Source.Temporary(int number) -> new Operand(view.source(), 0, temporaries.get(number));
            case Operand.Source.Constant(Tensor tensor) -> constant(tensor);
            case Operand.Source.RandomKey() -> randomKey();
            case Operand.Source.RowIndexes(String slot, int index) -> rowIndexes(slot, index);
            case Operand.Source.OutputRowIndexes(String slot, int _) -> outputRowIndexes(slot);
        };
    }

    /**
     * Removes the steps on whose results no output depends, and the temporary memory that is not used without them.
     *
     * @return what the other steps read
     */
    public Set<Operand.Source> removeUnread() {
        Set<Operand.Source> read = new HashSet<>();
        List<Step> kept = new ArrayList<>();
        for (Step step : steps.reversed()) {
            if (writes(step).anyMatch(source -> read.contains(source) || source instanceof Operand.Source.Output
                    || (source instanceof Operand.Source.Temporary(int number) && placed.containsKey(number)))) {
                kept.add(step);
                for (Operand input : step.inputs()) {
                    if (input != null) {
                        read.add(input.source());
                    }
                }
            }
        }
        steps.clear();
        steps.addAll(kept.reversed());
        renumber();
        return read;
    }

    private static Stream<Operand.Source> writes(Step step) {
        Stream<Operand.Source> written = step.outputs().stream().filter(Objects::nonNull).map(Operand::source);
        if (!(step.work() instanceof Step.Work.Compute(Computation computation))) {
            return written;
        }
        return Stream.concat(written, IntStream.range(0, step.inputs().size()).filter(computation::mutates)
                .mapToObj(step.inputs()::get).filter(Objects::nonNull).map(Operand::source));
    }

    private void renumber() {
        Map<Integer, Integer> numbers = new HashMap<>();
        List<TensorSpec> used = new ArrayList<>();
        steps.replaceAll(
                step -> new Step(step.work(), renumbered(step.inputs(), numbers, used),
                        renumbered(step.outputs(), numbers, used)));
        Map<Integer, Operand.Source.Output> moved = new HashMap<>();
        placed.forEach((number, output) -> {
            Integer to = numbers.get(number);
            if (to != null) {
                moved.put(to, output);
            }
        });
        placed.clear();
        placed.putAll(moved);
        temporaries.clear();
        temporaries.addAll(used);
    }

    private List<@Nullable Operand> renumbered(List<@Nullable Operand> operands, Map<Integer, Integer> numbers,
            List<TensorSpec> used) {
        List<@Nullable Operand> changed = new ArrayList<>(operands);
        changed.replaceAll(operand -> {
            if (operand == null || !(operand.source() instanceof Operand.Source.Temporary(int number))) {
                return operand;
            }
            int to = numbers.computeIfAbsent(number, old -> {
                used.add(temporaries.get(old));
                return used.size() - 1;
            });
            return new Operand(new Operand.Source.Temporary(to), operand.offset(), operand.spec());
        });
        return changed;
    }

    /**
     * All steps so far.
     *
     * @return in order, with the memory that they need
     */
    public Lowered lowered() {
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
