package io.seriatim.graph.interpret;

import io.seriatim.device.Device;
import io.seriatim.device.Place;
import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.KernelTables;
import io.seriatim.graph.op.Lowered;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Step;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.SelectedRows;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.Kernels;
import io.seriatim.tensor.kernel.PreparedKernels;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Runs one operation that comes down to steps, on tensors of the host. */
final class OpRunner {
    /** Copies up to so many bytes take less time than a library takes to prepare them. */
    private static final long SMALL_COPY = 1 << 16;
    private static final PreparedKernels COPIES = new PreparedKernels(Kernels.portable(), 1024);

    private final PreparedKernels kernels;
    private final LoweredOps ops = new LoweredOps();

    OpRunner(Kernels kernels) {
        this(new PreparedKernels(kernels, 1024));
    }

    OpRunner(PreparedKernels kernels) {
        this.kernels = kernels;
    }

    void run(OpDesc written, Operation schema, Environment environment, RunState state, Tensor randomKey) {
        LoweredOps.Key key = LoweredOps.key(written, schema, environment);
        LoweredOps.Entry known = key == null ? null : ops.find(key);
        if (known == null) {
            known = lowered(written, schema, environment, state, key);
        }
        Memory memory = new Memory(known.op(), environment, known.lowered(), known.types(), randomKey);
        for (Step step : known.lowered().steps()) {
            run(known.op(), step, memory);
        }
        memory.store(environment);
    }

    private LoweredOps.Entry lowered(OpDesc written, Operation schema, Environment environment, RunState state,
            LoweredOps.@Nullable Key key) {
        OpDesc op = schema.runForm(written);
        Values source = new Values(op, environment);
        Map<String, List<@Nullable ArgType>> types = schema.infer(op, source);
        Lowering lowering = new Lowering(op, schema, source, types, state.paddleRandom());
        Lowered lowered = Collective.isComputation(op)
                ? Collective.lower(op, lowering, state.communicator())
                : schema.lower(lowering);
        LoweredOps.Entry entry = new LoweredOps.Entry(op, types, lowered);
        if (key != null && !source.valuesRead) {
            ops.put(key, entry);
        }
        return entry;
    }

    private void run(OpDesc op, Step step, Memory memory) {
        List<@Nullable Tensor> all = memory.tensors(step.inputs());
        int inputs = all.size();
        all.addAll(memory.tensors(step.outputs()));
        TensorSpec[] specs = all.stream().map(tensor -> tensor == null ? null : tensor.spec())
                .toArray(TensorSpec[]::new);
        Prepared prepared = new Prepared(op, step.work());
        prepared.find(this, specs);
        prepared.run(all.toArray(new Tensor[0]), inputs, KernelContext.current());
    }

    /** Returns the work of a step for the types of its arguments, which may run again and again. */
    Prepared prepared(OpDesc op, Step.Work work, @Nullable TensorSpec[] specs) {
        Prepared prepared = new Prepared(op, work);
        prepared.renew(this, specs);
        return prepared;
    }

    /** Returns how many kernels that hold memory were evicted. They may still be run, but the cache does not know. */
    long evictions() {
        return kernels.evictions();
    }

    private Kernel kernel(Computation computation, @Nullable TensorSpec[] specs) {
        KernelTables.require(computation, specs);
        // Copies give the same bits, whichever kernel makes them.
        TensorSpec from = specs[0];
        TensorSpec to = specs[specs.length - 1];
        boolean small = computation instanceof Copy && from != null && to != null && to.bytes() <= SMALL_COPY
                && from.dtype() == to.dtype();
        return (small ? COPIES : kernels).get(computation, Place.CPU, specs);
    }

    /** The work of a step: a kernel or a Java function. */
    static final class Prepared {
        private final OpDesc op;
        private final Step.Work work;
        private @Nullable Kernel kernel;

        private Prepared(OpDesc op, Step.Work work) {
            this.op = op;
            this.work = work;
        }

        /** Returns what it computes; null if it is a function. */
        @Nullable
        Computation computation() {
            return work instanceof Step.Work.Compute(var computation) ? computation : null;
        }

        /**
         * Looks its kernel up again. It is loaded before the look-up that counts, since later runs look nothing up: the
         * cache then knows how much memory it holds.
         */
        void renew(OpRunner runner, @Nullable TensorSpec[] specs) {
            find(runner, specs);
            if (kernel != null) {
                kernel.load();
                find(runner, specs);
            }
        }

        private void find(OpRunner runner, @Nullable TensorSpec[] specs) {
            kernel = work instanceof Step.Work.Compute(var computation) ? runner.kernel(computation, specs) : null;
        }

        /** Runs it within a limit of the memory that a function takes for itself. */
        void run(@Nullable Tensor[] arguments, int inputs, KernelContext context, long limit) {
            if (kernel != null) {
                kernel.run(arguments, context);
            } else {
                WorkingMemory.within(limit, () -> {
                    run(arguments, inputs, context);
                    return true;
                });
            }
        }

        private void run(@Nullable Tensor[] arguments, int inputs, KernelContext context) {
            if (kernel != null) {
                kernel.run(arguments, context);
            } else if (work instanceof Step.Work.Call(String name, var function)) {
                List<@Nullable Tensor> all = Arrays.asList(arguments);
                try {
                    function.run(all.subList(0, inputs), all.subList(inputs, all.size()));
                } catch (RuntimeException e) {
                    throw e;
                } catch (Exception e) {
                    throw new IllegalStateException(
                            "Operation '" + op.type() + "' failed in " + name + ": " + e.getMessage(), e);
                }
            }
        }
    }

    /** Types and values of an operation's inputs, for one run of it. */
    static final class Values implements Inference.Source {
        private final OpDesc op;
        private final Environment environment;
        private @Nullable Object computed;
        /** Whether what was inferred depends on values, not only on types. */
        private boolean valuesRead;
        private final Predicate<String> isConstant;

        Values(OpDesc op, Environment environment) {
            this(op, environment, _ -> false);
        }

        /** The inputs of an operation, of which some have the same values in all runs. */
        Values(OpDesc op, Environment environment, Predicate<String> isConstant) {
            this.op = op;
            this.environment = environment;
            this.isConstant = isConstant;
        }

        /** Returns whether what was inferred depends on values that are not constant. */
        boolean readsValues() {
            return valuesRead;
        }

        @Override
        public @Nullable ArgType type(String slot, int index) {
            String name = op.input(slot).get(index);
            return name.equals(GradientRule.EMPTY) ? null : typeOf(environment.get(name));
        }

        @Override
        public long @Nullable [] values(String slot, int index) {
            String name = op.input(slot).get(index);
            valuesRead |= !isConstant.test(name);
            Object value = environment.get(name);
            return value instanceof SelectedRows rows
                    ? rows.rows().toLongArray()
                    : Inference.Source.whole((Tensor) value);
        }

        @Override
        public double @Nullable [] numbers(String slot, int index) {
            String name = op.input(slot).get(index);
            valuesRead |= !isConstant.test(name);
            return environment.get(name) instanceof Tensor tensor
                    ? tensor.toDoubleArray()
                    : Inference.Source.super.numbers(slot, index);
        }

        @Override
        public Object computed(Supplier<?> computation) {
            valuesRead = true;
            Object result = computed == null ? computation.get() : computed;
            computed = result;
            return result;
        }
    }

    static ArgType typeOf(Object value) {
        return switch (value) {
            case Tensor tensor -> ArgType.dense(tensor.dtype(), tensor.shape().dims());
            case SelectedRows rows ->
                ArgType.rows(rows.values().dtype(), rows.rows().shape().dim(0), rows.shape().dims());
            case TensorList list -> list.tensors().isEmpty() || list.tensors().getFirst() == null
                    ? ArgType.array(DType.FLOAT32)
                    : ArgType.array(list.tensors().getFirst().dtype(), list.tensors().getFirst().shape().dims());
            default -> throw new IllegalArgumentException(
                    "A tensor was expected, but there is " + value.getClass().getSimpleName());
        };
    }

    /** The tensors of one run of an operation. */
    private static final class Memory {
        private final OpDesc op;
        private final Environment environment;
        private final Tensor randomKey;
        private final List<Tensor> temporaries = new ArrayList<>();
        private final Map<Operand.Source, Object> written = new HashMap<>();
        private final Lowered lowered;

        Memory(OpDesc op, Environment environment, Lowered lowered, Map<String, List<@Nullable ArgType>> types,
                Tensor randomKey) {
            this.op = op;
            this.environment = environment;
            this.randomKey = randomKey;
            this.lowered = lowered;
            lowered.temporaries().forEach(spec -> temporaries.add(Tensor.allocate(environment.host(), spec)));
            types.forEach((slot, list) -> {
                for (int i = 0; i < list.size(); i++) {
                    ArgType type = list.get(i);
                    Operand.Source.Output output = new Operand.Source.Output(slot, i);
                    if (type != null && !op.output(slot).get(i).equals(GradientRule.EMPTY)
                            && !lowered.aliases().containsKey(output)) {
                        Operand.Source.Input shared = lowered.shared().get(output);
                        written.put(output,
                                shared == null
                                        ? allocate(type, environment.host())
                                        : value(shared.slot(), shared.index()));
                    }
                }
            });
        }

        private static Object allocate(ArgType type, Device host) {
            if (type.kind() == ArgType.Kind.ROWS) {
                long[] dims = type.dims();
                long height = dims[0];
                dims[0] = type.rowCount();
                return new SelectedRows(Tensor.allocate(DType.INT64, type.rowCount()),
                        Tensor.allocate(type.dtype(), dims), height);
            }
            return Tensor.allocate(host, type.spec());
        }

        private Object value(String slot, int index) {
            return environment.get(op.input(slot).get(index));
        }

        List<@Nullable Tensor> tensors(List<@Nullable Operand> operands) {
            List<@Nullable Tensor> tensors = new ArrayList<>();
            for (Operand operand : operands) {
                tensors.add(operand == null ? null : view(base(operand.source()), operand));
            }
            return tensors;
        }

        private static Tensor view(Tensor base, Operand operand) {
            long start = operand.source() instanceof Operand.Source.Constant ? 0 : base.offset();
            return new Tensor(base.buffer(), start + operand.offset(), operand.spec());
        }

        private Tensor base(Operand.Source source) {
            return switch (source) {
                case Operand.Source.Input(String slot, int index) -> values(value(slot, index));
                case Operand.Source.RowIndexes(String slot, int index) -> ((SelectedRows) value(slot, index)).rows();
                case Operand.Source.Output output -> values(written(output));
                case Operand.Source.OutputRowIndexes(String slot, int index) ->
                    ((SelectedRows) written(new Operand.Source.Output(slot, index))).rows();
                case Operand.Source.Temporary(int number) -> temporaries.get(number);
                case Operand.Source.Constant(Tensor tensor) -> tensor;
                case Operand.Source.RandomKey _ -> randomKey;
            };
        }

        private Object written(Operand.Source.Output output) {
            Object value = written.get(output);
            if (value == null) {
                throw new IllegalStateException(
                        "Operation '" + op.type() + "' writes output " + output.slot()
                                + ", of which nothing was inferred");
            }
            return value;
        }

        private static Tensor values(Object value) {
            return value instanceof SelectedRows rows ? rows.values() : rowMajor((Tensor) value);
        }

        /** Operands assume that variables are row-major; what is fed may be a view. */
        private static Tensor rowMajor(Tensor tensor) {
            if (tensor.spec().isRowMajor()) {
                return tensor;
            }
            throw new IllegalArgumentException(
                    "Variables must be row-major, but there is " + tensor.spec() + ": copy it before it is fed");
        }

        void store(Environment to) {
            lowered.aliases().forEach((output, of) -> {
                if (of.source() instanceof Operand.Source.Input(String slot, int index)) {
                    Tensor shared = to.share(op.input(slot).get(index));
                    to.alias(op.output(output.slot()).get(output.index()), view(shared, of));
                }
            });
            written.forEach((source, value) -> {
                if (source instanceof Operand.Source.Output(String slot, int index)) {
                    boolean isShared = lowered.aliases().values().stream().anyMatch(of -> of.source().equals(source));
                    if (isShared) {
                        to.alias(op.output(slot).get(index), (Tensor) value);
                    } else {
                        to.set(op.output(slot).get(index), value);
                    }
                }
            });
            lowered.aliases().forEach((output, of) -> {
                if (of.source() instanceof Operand.Source.Output) {
                    to.alias(op.output(output.slot()).get(output.index()), view(base(of.source()), of));
                }
            });
        }
    }
}
