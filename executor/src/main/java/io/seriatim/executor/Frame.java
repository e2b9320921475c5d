package io.seriatim.executor;

import io.seriatim.device.Buffer;
import io.seriatim.device.Device;
import io.seriatim.graph.Interpreter;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Step;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.kernel.Copy;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The memory of one run of a specialisation: an arena, the tensors in it, and the arguments of every kernel. Frames are used again by later runs; only what is fed and what lies in scopes is bound
 * anew, and only if it is another tensor than the last time. Of one run at a time, whose threads work on different instructions.
 */
final class Frame {
    private final Specialisation specialisation;
    private final Accesses accesses;
    private final Device device;
    private final @Nullable Buffer arena;
    private final @Nullable Object[] initial;
    final @Nullable Object[] values;
    private final Work[][] works;
    private final List<List<Patch>> patches = new ArrayList<>();
    private final Map<Integer, Tensor> keys = new HashMap<>();
    private @Nullable Scope scope;
    private Interpreter.@Nullable Session session;

    /** A step, ready to run. */
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    private record Work(@Nullable Kernel kernel, Step.@Nullable HostFunction call, @Nullable Tensor[] arguments, int inputs) {
        void run(KernelContext context) throws Exception {
            if (kernel != null) {
                kernel.run(arguments, context);
            } else if (call != null) {
                List<@Nullable Tensor> all = java.util.Arrays.asList(arguments);
                call.run(all.subList(0, inputs), all.subList(inputs, all.size()));
            }
        }
    }

    /** An argument that depends on what is fed or in a scope. */
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    private record Patch(@Nullable Tensor[] arguments, int index, Operand operand) {
    }

    Frame(Specialisation specialisation, Accesses accesses, Device device, PreparedKernels kernels) {
        this.specialisation = specialisation;
        this.accesses = accesses;
        this.device = device;
        this.arena = specialisation.arenaBytes() == 0 ? null : device.allocate(specialisation.arenaBytes()).label("arena of a plan");
        int n = accesses.values().size();
        this.initial = new Object[n];
        this.values = new Object[n];
        for (int i = 0; i < n; i++) {
            patches.add(new ArrayList<>());
            TensorSpec spec = specialisation.specs()[i];
            if (specialisation.offsets()[i] >= 0 && spec != null) {
                initial[i] = at(specialisation.offsets()[i], spec);
            }
        }
        this.works = new Work[specialisation.instructions().size()][];
        for (int i = 0; i < works.length; i++) {
            works[i] = specialisation.instructions().get(i) instanceof Specialisation.Compiled compiled
                    ? works(i, compiled, kernels)
                    : new Work[0];
        }
        System.arraycopy(initial, 0, values, 0, n);
    }

    private Tensor at(long offset, TensorSpec spec) {
        return new Tensor(java.util.Objects.requireNonNull(arena), offset, spec);
    }

    private Work[] works(int index, Specialisation.Compiled compiled, PreparedKernels kernels) {
        List<Work> list = new ArrayList<>();
        List<Step> steps = compiled.lowered().steps();
        for (int i = 0; i < steps.size(); i++) {
            Step step = steps.get(i);
            List<@Nullable Operand> operands = new ArrayList<>(step.inputs());
            operands.addAll(step.outputs());
            @Nullable
            Tensor[] arguments = new Tensor[operands.size()];
            for (int j = 0; j < arguments.length; j++) {
                Operand operand = operands.get(j);
                if (operand != null) {
                    resolve(index, compiled, operand, arguments, j);
                }
            }
            Step.HostFunction call = step.work() instanceof Step.Work.Call(String _, var function) ? function : null;
            list.add(new Work(compiled.kernels().get(i), call, arguments, step.inputs().size()));
        }
        compiled.copies().forEach((output, number) -> list.add(copy(index, compiled, output, number, kernels)));
        return list.toArray(Work[]::new);
    }

    /** Brings what was computed beside its old value into its place. */
    private Work copy(int index, Specialisation.Compiled compiled, Operand.Source.Output output, int number, PreparedKernels kernels) {
        int value = value(compiled.access(), output);
        TensorSpec spec = java.util.Objects.requireNonNull(specialisation.specs()[value]);
        @Nullable
        Tensor[] arguments = new Tensor[]{at(specialisation.temporaries()[index][number], spec), null};
        bind(value, new Operand(output, 0, spec), arguments, 1);
        return new Work(kernels.get(Copy.PLAIN, spec, spec), null, arguments, 1);
    }

    private static int value(Accesses.Access access, Operand.Source.Output output) {
        return access.writes().getOrDefault(access.op().output(output.slot()).get(output.index()), -1);
    }

    private void resolve(int index, Specialisation.Compiled compiled, Operand operand, @Nullable Tensor[] arguments, int place) {
        Accesses.Access access = compiled.access();
        switch (operand.source()) {
            case Operand.Source.Input(String slot, int i) ->
                bind(access.reads().getOrDefault(access.op().input(slot).get(i), -1), operand, arguments, place);
            case Operand.Source.Output output -> {
                Integer beside = compiled.copies().get(output);
                if (beside == null) {
                    bind(value(access, output), operand, arguments, place);
                } else {
                    arguments[place] = at(specialisation.temporaries()[index][beside] + operand.offset(), operand.spec());
                }
            }
            case Operand.Source.Temporary(int number) ->
                arguments[place] = at(specialisation.temporaries()[index][number] + operand.offset(), operand.spec());
            case Operand.Source.Constant(Tensor tensor) -> arguments[place] = new Tensor(tensor.buffer(), operand.offset(), operand.spec());
            case Operand.Source.RandomKey _ ->
                arguments[place] = keys.computeIfAbsent(index, _ -> Tensor.allocate(device, TensorSpec.of(DType.INT64, 2)));
            case Operand.Source.RowIndexes _,Operand.Source.OutputRowIndexes _ ->
                throw new IllegalStateException("Operation '" + access.op().type() + "' works on rows, which are interpreted");
        }
    }

    private void bind(int value, Operand operand, @Nullable Tensor[] arguments, int place) {
        if (initial[value] instanceof Tensor tensor) {
            arguments[place] = view(tensor, operand);
        } else {
            patches.get(value).add(new Patch(arguments, place, operand));
        }
    }

    private static Tensor view(Tensor base, Operand operand) {
        return operand.offset() == 0 && operand.spec().equals(base.spec())
                ? base
                : new Tensor(base.buffer(), base.offset() + operand.offset(), operand.spec());
    }

    /** Binds what is fed and what lies in the scope. */
    void begin(Map<String, Tensor> feeds, Scope root, Interpreter interpreter, io.seriatim.graph.Program program, long run) {
        scope = root;
        session = null;
        for (int i = 0; i < values.length; i++) {
            Accesses.Value value = accesses.values().get(i);
            if (value.origin() == Accesses.Origin.FED) {
                rebind(i, feeds.get(value.name()));
            } else if (value.origin() == Accesses.Origin.SCOPE || value.persistable()) {
                rebind(i, persistent(i, value, root));
            } else {
                values[i] = initial[i];
            }
        }
        keys.forEach((index, key) -> RandomKeys.write(key, program, specialisation.instructions().get(index).access(), run));
        this.feeds = feeds;
        this.interpreter = interpreter;
        this.program = program;
        this.run = run;
    }

    private Map<String, Tensor> feeds = Map.of();
    private @Nullable Interpreter interpreter;
    private io.seriatim.graph.@Nullable Program program;
    private long run;

    private @Nullable Object persistent(int index, Accesses.Value value, Scope root) {
        Object there = root.value(value.name());
        TensorSpec spec = specialisation.specs()[index];
        boolean fits = there instanceof Tensor tensor && spec != null && tensor.spec().equals(spec);
        if (fits || spec == null || (there != null && !(there instanceof Tensor)) || value.origin() == Accesses.Origin.SCOPE) {
            return there;
        }
        Tensor fresh = Tensor.allocate(device, spec);
        root.put(value.name(), fresh);
        return fresh;
    }

    private void rebind(int index, @Nullable Object now) {
        if (now != values[index] || now == null) {
            values[index] = now;
            if (now instanceof Tensor tensor) {
                patches.get(index).forEach(patch -> patch.arguments()[patch.index()] = view(tensor, patch.operand()));
            }
        }
    }

    void execute(int index, KernelContext context) throws Exception {
        if (specialisation.instructions().get(index) instanceof Specialisation.Interpreted(Accesses.Access access)) {
            interpret(access);
            return;
        }
        for (Work work : works[index]) {
            work.run(context);
        }
    }

    /** Looks for NaN and infinities in what an operation has computed. */
    void requireFinite(int index) {
        for (Map.Entry<String, Integer> write : specialisation.instructions().get(index).access().writes().entrySet()) {
            if (values[write.getValue()] instanceof Tensor tensor && tensor.dtype().isFloating()) {
                for (double element : tensor.toDoubleArray()) {
                    if (Double.isNaN(element) || Double.isInfinite(element)) {
                        throw new IllegalStateException("'" + write.getKey() + "' holds " + element);
                    }
                }
            }
        }
    }

    private synchronized void interpret(Accesses.Access access) {
        Interpreter.Session current = session;
        if (current == null) {
            current = java.util.Objects.requireNonNull(interpreter).session(java.util.Objects.requireNonNull(program), feeds, run);
            session = current;
        }
        for (Map.Entry<String, Integer> read : access.reads().entrySet()) {
            Object value = values[read.getValue()];
            if (value != null) {
                current.set(read.getKey(), value);
            }
        }
        current.run(access.index());
        for (Map.Entry<String, Integer> write : access.writes().entrySet()) {
            Object value = current.find(write.getKey());
            values[write.getValue()] = value;
            if (value != null && accesses.values().get(write.getValue()).persistable()) {
                java.util.Objects.requireNonNull(scope).put(write.getKey(), value);
            }
        }
    }

    void close() {
        if (arena != null) {
            arena.close();
        }
    }
}
