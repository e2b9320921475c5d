package io.seriatim.graph.interpret;

import io.seriatim.device.Device;
import io.seriatim.device.DeviceMemoryException;
import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Effect;
import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.op.Lowered;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.PaddleRandom;
import io.seriatim.graph.op.Step;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.KernelContext;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * An operation that computes new tensors from others again and again, with sizes that change, as in the body of a loop
 * that appends to a tensor. Operands and results are given by number. For each combination of sizes, the operation is
 * lowered once and its kernels are looked up once. A sequence of sizes that comes again is followed without look-up.
 *
 * <p>
 * Of one thread at a time.
 */
public final class RepeatedOperation {
    /** The most combinations of sizes that are kept: the first ones, since loops meet all of them in turn. */
    private static final int MOST = 1024;
    /** An operand that is left out. */
    private static final int ABSENT = -1;

    private final OpRunner runner;
    private final @Nullable PaddleRandom random;
    private final Block block;
    private final int index;
    private final OpDesc written;
    private final Operation schema;
    private final List<String> reads;
    private final List<String> writes;
    private final @Nullable Tensor[] constants;
    /** For each slot of the operation, the number of its first operand; −1 if it has none. */
    private final int[] slots;
    private final Attrs attrs;
    private final Map<List<TensorSpec>, Entry> entries = new HashMap<>();
    private @Nullable Entry latest;
    private boolean refused;

    /** The types and sizes of operands, and the steps for them. */
    private static final class Entry {
        private final TensorSpec[] operands;
        private final @Nullable TensorSpec[] allocated;
        private final Tensor[] fixed;
        private final Bound[] steps;
        private long evictions;
        private @Nullable Entry next;

        Entry(TensorSpec[] operands, @Nullable TensorSpec[] allocated, Tensor[] fixed, Bound[] steps,
                long evictions) {
            this.operands = operands;
            this.allocated = allocated;
            this.fixed = fixed;
            this.steps = steps;
            this.evictions = evictions;
        }

        boolean fits(Tensor[] given) {
            for (int i = 0; i < given.length; i++) {
                TensorSpec spec = given[i].spec();
                TensorSpec own = operands[i];
                // Comparing records takes several times as long.
                if (spec.dtype() != own.dtype() || !spec.isRowMajor() || !sameDims(spec.shape(), own)) {
                    return false;
                }
            }
            return true;
        }

        private static boolean sameDims(Shape shape, TensorSpec own) {
            int rank = shape.rank();
            if (rank != own.shape().rank()) {
                return false;
            }
            for (int axis = 0; axis < rank; axis++) {
                if (shape.dim(axis) != own.shape().dim(axis)) {
                    return false;
                }
            }
            return true;
        }
    }

    /**
     * A step.
     *
     * @param sources
     *            by argument, the number of its tensor: among operands, allocated and fixed tensors, in this order
     * @param specs
     *            by argument; null for what is left out
     * @param isWhole
     *            by argument, whether it is the tensor itself, not a view
     */
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    private record Bound(OpRunner.Prepared work, int inputs, int[] sources, long[] offsets,
            @Nullable TensorSpec[] specs, boolean[] isWhole) {
    }

    /**
     * The only computation of an operation.
     *
     * @param computation
     *            which
     * @param operands
     *            for each input, its number among the tensors that the operation is given
     * @param result
     *            the number of its result among those that the operation gives
     * @param specs
     *            how it reads and writes them; inputs first
     */
    public record SingleStep(Computation computation, List<Integer> operands, int result, List<TensorSpec> specs) {
    }

    private RepeatedOperation(RunState state, Block block, int index, Operation schema, List<String> reads,
            List<String> writes, @Nullable Tensor[] constants) {
        // Not the state itself, which refers to the feeds and variables of one run.
        this.runner = state.runner();
        this.random = state.paddleRandom();
        this.block = block;
        this.index = index;
        this.written = block.ops().get(index);
        this.schema = schema;
        this.reads = List.copyOf(reads);
        this.writes = List.copyOf(writes);
        this.constants = constants.clone();
        OpDesc op = schema.runForm(written);
        this.attrs = new Attrs(op, schema);
        this.slots = schema.inputs().stream().map(slot -> op.input(slot.name()))
                .mapToInt(names -> names.isEmpty() ? ABSENT : reads.indexOf(names.getFirst())).toArray();
    }

    /** Returns an operation of a block; null if it does not only compute new tensors from others. */
    static @Nullable RepeatedOperation of(RunState state, Block block, int index, List<String> reads,
            List<String> writes, @Nullable Tensor[] constants) {
        OpDesc op = block.ops().get(index);
        Operation schema = Operations.system().get(op.type());
        boolean computes = schema.isLowered() && !schema.effects().contains(Effect.RANDOM)
                && !Collective.isComputation(op) && schema.lodInputs().isEmpty()
                && reads.stream().noneMatch(writes::contains);
        return computes ? new RepeatedOperation(state, block, index, schema, reads, writes, constants) : null;
    }

    /**
     * Runs the operation.
     *
     * @param operands
     *            for each name that is read, its value
     * @param results
     *            takes the values that are written: new tensors; null for what the operation does not write
     * @param host
     *            the device of the host on which results are allocated
     * @param limit
     *            of the memory that the operation may take for itself, in bytes
     * @return false if nothing was computed: the operation depends on the elements of operands that are not constants,
     *         or it changes operands or gives them other names
     */
    public boolean run(Tensor[] operands, @Nullable Tensor[] results, Device host, long limit) {
        try {
            if (runByElements(operands, results, host)) {
                return true;
            }
            if (refused) {
                return false;
            }
            Entry entry = entry(operands, limit);
            if (entry == null) {
                return false;
            }
            run(entry, operands, results, host, limit);
            return true;
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(BlockRunner.named(block, index, e), e);
        } catch (DeviceMemoryException e) {
            DeviceMemoryException named = new DeviceMemoryException(BlockRunner.named(block, index, e));
            named.initCause(e);
            throw named;
        }
    }

    private boolean runByElements(Tensor[] operands, @Nullable Tensor[] results, Device host) {
        Operation.ByElements compute = schema.byElements();
        if (compute == null || results.length != 1) {
            return false;
        }
        List<@Nullable Tensor> given = new ArrayList<>(slots.length);
        for (int read : slots) {
            Tensor operand = read < 0 ? null : operands[read];
            if (operand != null && (!operand.spec().isRowMajor() || !operand.place().isHost())) {
                return false;
            }
            given.add(operand);
        }
        Tensor result = compute.compute(attrs, given, host);
        results[0] = result;
        return result != null;
    }

    private @Nullable Entry entry(Tensor[] operands, long limit) {
        Entry last = latest;
        if (last != null && last.fits(operands)) {
            return current(last, limit);
        }
        // The sizes that came next the last time.
        Entry next = last == null ? null : last.next;
        if (next == null || !next.fits(operands)) {
            List<TensorSpec> key = key(operands);
            next = key == null ? null : entries.get(key);
            if (next == null && key != null) {
                next = WorkingMemory.within(limit, () -> made(operands));
                if (next != null && entries.size() < MOST) {
                    entries.put(key, next);
                }
            }
            if (last != null && next != null && entries.size() < MOST) {
                last.next = next;
            }
        }
        latest = next;
        return next == null ? null : current(next, limit);
    }

    /**
     * What the operation has computed last, if that was one computation.
     *
     * @return null if it has not run, or not in one computation on its operands
     */
    public @Nullable SingleStep single() {
        Entry entry = latest;
        if (entry == null || entry.steps.length != 1) {
            return null;
        }
        Bound step = entry.steps[0];
        List<@Nullable TensorSpec> specs = Arrays.asList(step.specs);
        boolean isAll = specs.stream().allMatch(Objects::nonNull)
                && Arrays.stream(step.offsets).allMatch(offset -> offset == 0)
                && Arrays.stream(step.sources, 0, step.inputs).allMatch(source -> source < entry.operands.length)
                && step.sources.length == step.inputs + 1 && step.sources[step.inputs] >= entry.operands.length;
        return isAll && step.work.computation() != null
                ? new SingleStep(step.work.computation(),
                        Arrays.stream(step.sources, 0, step.inputs).boxed().toList(),
                        step.sources[step.inputs] - entry.operands.length,
                        specs.stream().map(Objects::requireNonNull).toList())
                : null;
    }

    /** Looks the kernels up again if the cache has evicted some: it should know which ones are in use. */
    private Entry current(Entry entry, long limit) {
        long evictions = runner.evictions();
        if (entry.evictions != evictions) {
            WorkingMemory.within(limit, () -> {
                for (Bound step : entry.steps) {
                    step.work().renew(runner, step.specs());
                }
                return true;
            });
            entry.evictions = evictions;
        }
        return entry;
    }

    private static @Nullable List<TensorSpec> key(Tensor[] operands) {
        List<TensorSpec> key = Arrays.stream(operands).map(Tensor::spec).toList();
        return key.stream().allMatch(TensorSpec::isRowMajor) ? key : null;
    }

    private @Nullable Entry made(Tensor[] operands) {
        Environment environment = new Environment(null);
        for (int i = 0; i < operands.length; i++) {
            environment.setHere(reads.get(i), operands[i]);
        }
        OpDesc op = schema.runForm(written);
        OpRunner.Values source = new OpRunner.Values(op, environment, name -> {
            int read = reads.indexOf(name);
            return read >= 0 && constants[read] != null;
        });
        Map<String, List<@Nullable ArgType>> types = schema.infer(op, source);
        Lowered lowered = schema.lower(new Lowering(op, schema, source, types, random));
        if (source.readsValues() || !lowered.aliases().isEmpty() || !lowered.shared().isEmpty()) {
            refused = true;
            return null;
        }
        Entry entry = new Numbering(op, types, lowered, operands).entry();
        refused = entry == null;
        return entry;
    }

    /** Numbers the tensors of steps. */
    private final class Numbering {
        private final OpDesc op;
        private final Lowered lowered;
        private final TensorSpec[] operands;
        private final @Nullable TensorSpec[] results;
        private final List<Tensor> fixed = new ArrayList<>();
        private boolean fits = true;

        Numbering(OpDesc op, Map<String, List<@Nullable ArgType>> types, Lowered lowered, Tensor[] given) {
            this.op = op;
            this.lowered = lowered;
            this.operands = Arrays.stream(given).map(Tensor::spec).toArray(TensorSpec[]::new);
            this.results = new TensorSpec[writes.size()];
            types.forEach((slot, list) -> {
                for (int i = 0; i < list.size(); i++) {
                    ArgType type = list.get(i);
                    int number = type == null ? ABSENT : writes.indexOf(op.output(slot).get(i));
                    if (type != null && number >= 0 && type.kind() == ArgType.Kind.DENSE) {
                        results[number] = type.spec();
                    } else if (type != null && !op.output(slot).get(i).equals(GradientRule.EMPTY)) {
                        fits = false;
                    }
                }
            });
        }

        @Nullable
        Entry entry() {
            long evictions = runner.evictions();
            // A result of which nothing is inferred is not written.
            List<@Nullable TensorSpec> allocated = new ArrayList<>();
            Collections.addAll(allocated, results);
            allocated.addAll(lowered.temporaries());
            List<Bound> steps = new ArrayList<>();
            for (Step step : lowered.steps()) {
                if (fits) {
                    steps.add(bound(step, operands.length + allocated.size()));
                }
            }
            return fits
                    ? new Entry(operands, allocated.toArray(TensorSpec[]::new), fixed.toArray(Tensor[]::new),
                            steps.toArray(Bound[]::new), evictions)
                    : null;
        }

        private Bound bound(Step step, int firstFixed) {
            List<@Nullable Operand> all = new ArrayList<>(step.inputs());
            all.addAll(step.outputs());
            int[] sources = new int[all.size()];
            long[] offsets = new long[sources.length];
            boolean[] whole = new boolean[sources.length];
            @Nullable
            TensorSpec[] specs = new TensorSpec[sources.length];
            for (int i = 0; i < sources.length; i++) {
                Operand operand = all.get(i);
                sources[i] = operand == null ? ABSENT : number(operand.source(), firstFixed);
                if (operand != null) {
                    offsets[i] = operand.offset();
                    specs[i] = operand.spec();
                    whole[i] = operand.offset() == 0 && operand.spec().equals(base(operand.source(), sources[i]));
                    boolean changes = i >= step.inputs().size()
                            || (step.work() instanceof Step.Work.Compute(var computation) && computation.mutates(i));
                    fits &= !(changes && (sources[i] < operands.length || sources[i] >= firstFixed));
                }
            }
            return new Bound(runner.prepared(written, step.work(), specs), step.inputs().size(), sources,
                    offsets, specs, whole);
        }

        private int number(Operand.Source source, int firstFixed) {
            int number = switch (source) {
                case Operand.Source.Input(String slot, int i) -> reads.indexOf(op.input(slot).get(i));
                case Operand.Source.Output(String slot, int i) -> result(op.output(slot).get(i));
                case Operand.Source.Temporary(int i) -> operands.length + results.length + i;
                case Operand.Source.Constant(Tensor tensor) -> {
                    fixed.add(tensor);
                    yield firstFixed + fixed.size() - 1;
                }
                case Operand.Source.RowIndexes _,Operand.Source.OutputRowIndexes _,Operand.Source.RandomKey _ -> ABSENT;
            };
            fits &= number >= 0;
            return number;
        }

        private int result(String name) {
            int number = writes.indexOf(name);
            return number < 0 || results[number] == null ? ABSENT : operands.length + number;
        }

        private @Nullable TensorSpec base(Operand.Source source, int number) {
            return switch (source) {
                case Operand.Source.Input _ -> number < 0 ? null : operands[number];
                case Operand.Source.Output _ -> number < 0 ? null : results[number - operands.length];
                case Operand.Source.Temporary(int i) -> lowered.temporaries().get(i);
                // A constant may be a view, of which offsets are counted from its buffer.
                default -> null;
            };
        }
    }

    private void run(Entry entry, Tensor[] operands, @Nullable Tensor[] results, Device host, long limit) {
        int given = operands.length;
        @Nullable
        Tensor[] bases = Arrays.copyOf(operands, given + entry.allocated.length + entry.fixed.length);
        for (int i = 0; i < entry.allocated.length; i++) {
            TensorSpec spec = entry.allocated[i];
            if (spec != null) {
                bases[given + i] = Tensor.allocate(host, spec);
            }
        }
        int firstFixed = given + entry.allocated.length;
        System.arraycopy(entry.fixed, 0, bases, firstFixed, entry.fixed.length);
        KernelContext context = KernelContext.current();
        for (Bound step : entry.steps) {
            @Nullable
            Tensor[] arguments = new Tensor[step.sources.length];
            for (int i = 0; i < arguments.length; i++) {
                int source = step.sources[i];
                TensorSpec spec = step.specs[i];
                if (source >= 0 && spec != null) {
                    Tensor base = Objects.requireNonNull(bases[source]);
                    arguments[i] = step.isWhole[i]
                            ? base
                            : new Tensor(base.buffer(), (source < firstFixed ? base.offset() : 0) + step.offsets[i],
                                    spec);
                }
            }
            step.work.run(arguments, step.inputs, context, limit);
        }
        System.arraycopy(bases, given, results, 0, results.length);
        for (int i = given + results.length; i < firstFixed; i++) {
            Objects.requireNonNull(bases[i]).close();
        }
    }
}
