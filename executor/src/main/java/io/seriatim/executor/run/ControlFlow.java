package io.seriatim.executor.run;

import io.seriatim.device.Device;
import io.seriatim.executor.ir.Access;
import io.seriatim.executor.ir.Bindings;
import io.seriatim.executor.ir.Copies;
import io.seriatim.executor.ir.KeptResults;
import io.seriatim.executor.ir.PackedWeights;
import io.seriatim.executor.ir.RunFailure;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.graph.interpret.BlockSession;
import io.seriatim.graph.interpret.ControlOperation;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A branch or loop of a plan that passes values to its block, from iteration to iteration and to the enclosing block by
 * index. Each variable that the operation reads or writes has a slot. Variables have names only if an operation of the
 * block asks for the session of the interpreter.
 */
final class ControlFlow {
    private final ControlOperation operation;
    private final NestedBlock nested;
    /** By slot; first those that the operation reads. */
    private final String[] names;
    private final Map<String, Integer> slots;
    private final boolean[] isConstant;
    private final boolean[] isWritten;
    /** By external value of the block. */
    private final int[] externals;
    /** By result of the block, its slot; −1 if only the block reads it. */
    private final int[] results;
    private final int[] wanted;
    /** By variable that the operation writes. */
    private final int[] written;

    private ControlFlow(ControlOperation operation, NestedBlock nested, Map<String, Integer> slots,
            boolean[] isConstant, int[] written) {
        this.operation = operation;
        this.nested = nested;
        this.slots = slots;
        this.names = new String[slots.size()];
        slots.forEach((name, slot) -> names[slot] = name);
        this.isConstant = isConstant;
        this.written = written;
        this.isWritten = new boolean[names.length];
        for (int slot : written) {
            isWritten[slot] = true;
        }
        ValueNumbering accesses = nested.accesses();
        this.externals = Arrays.stream(accesses.externals()).map(value -> slot(accesses, value)).toArray();
        this.wanted = accesses.wanted().stream().mapToInt(value -> value).toArray();
        this.results = Arrays.stream(wanted).map(value -> slot(accesses, value)).toArray();
    }

    private int slot(ValueNumbering accesses, int value) {
        return slots.getOrDefault(accesses.values().get(value).name(), -1);
    }

    /** Returns that of a task; null if its block reads variables that the task does not name. */
    static @Nullable ControlFlow of(ControlOperation operation, NestedBlock nested, Task.Interpreted task,
            ValueTable values) {
        Access access = task.access();
        Set<String> names = new LinkedHashSet<>();
        Arrays.stream(access.reads()).mapToObj(values::name).forEach(names::add);
        boolean isEach = names.size() == access.reads().length;
        Arrays.stream(access.writes()).mapToObj(values::name).forEach(names::add);
        Map<String, Integer> slots = new HashMap<>();
        names.forEach(name -> slots.put(name, slots.size()));
        boolean[] isConstant = new boolean[names.size()];
        for (int i = 0; i < task.reads().length; i++) {
            isConstant[i] = values.constant(task.reads()[i]) != null;
        }
        int[] written = Arrays.stream(access.writes()).map(value -> slots.get(values.name(value))).toArray();
        ControlFlow made = new ControlFlow(operation, nested, slots, isConstant, written);
        return isEach && Arrays.stream(made.externals).allMatch(slot -> slot >= 0) ? made : null;
    }

    /** Begins an execution with the operands of the task. */
    Run begin(RunContext around, @Nullable Object[] operands, Device host) {
        return new Run(around, operands, host);
    }

    /** One execution of the operation. */
    final class Run implements Bindings, RunContext.Sessions, Consumer<Frame> {
        private final RunContext around;
        private final Device host;
        /** Identifies this execution; frames keep it, and nothing else of a run. */
        private final Object loop = new Object();
        private final @Nullable Object[] given;
        private final @Nullable Object[] values;
        /** By slot, whether its tensor has memory that nothing else has. */
        private final boolean[] isOwn;
        private BlockSession.@Nullable Iteration iteration;
        private @Nullable BlockSession session;
        private boolean isNamed;

        private Run(RunContext around, @Nullable Object[] operands, Device host) {
            this.around = around;
            this.host = host;
            this.given = operands;
            this.values = Arrays.copyOf(operands, names.length);
            this.isOwn = new boolean[names.length];
            for (int i = 0; i < operands.length; i++) {
                if (operands[i] instanceof Tensor tensor) {
                    if (!isConstant[i]) {
                        // Lists and blocks may pass the tensor to other threads.
                        tensor.buffer().settle();
                    } else if (isWritten[i]) {
                        values[i] = Copies.to(host, tensor);
                    }
                }
            }
        }

        /** Runs the block as often as the condition says. */
        void run() {
            try (NestedBlock.Iterations iterations = nested.begin(operation.isLoop())) {
                if (!operation.isLoop()) {
                    if (operation.isTrue(values[operation.condition()])) {
                        runOnce(iterations);
                    }
                    return;
                }
                for (long i = 0; operation.isTrue(values[operation.condition()]); i++) {
                    iteration = new BlockSession.Iteration(loop, i);
                    session = null;
                    runOnce(iterations);
                }
            } catch (RunFailure e) {
                throw e;
            } catch (RuntimeException e) {
                throw operation.named(e);
            }
        }

        private void runOnce(NestedBlock.Iterations iterations) {
            around.cancellation().begin(operation.block());
            @Nullable
            Object[] outside = new Object[externals.length];
            for (int i = 0; i < outside.length; i++) {
                outside[i] = values[externals[i]];
            }
            iterations.run(around.inside(outside, this, this, iteration), this);
        }

        /** Takes the results of the block. */
        @Override
        public void accept(Frame frame) {
            for (int i = 0; i < results.length; i++) {
                int slot = results[i];
                Object result = slot < 0 ? null : frame.share(wanted[i]);
                if (result != null) {
                    values[slot] = result;
                    isOwn[slot] = frame.isOwn(wanted[i]);
                }
            }
        }

        /** Returns what a variable that the operation writes has; null if it has no value. */
        @Nullable
        Object result(int index) {
            return values[written[index]];
        }

        /** Returns whether a result has memory that neither an operand nor another result has. */
        boolean isOwn(int index) {
            int slot = written[index];
            if (!isOwn[slot] || !(values[slot] instanceof Tensor tensor)) {
                return false;
            }
            for (int other : written) {
                if (other != slot && hasMemory(values[other], tensor)) {
                    return false;
                }
            }
            for (Object operand : given) {
                if (hasMemory(operand, tensor)) {
                    return false;
                }
            }
            return true;
        }

        private static boolean hasMemory(@Nullable Object value, Tensor tensor) {
            return value instanceof Tensor there && there.buffer().equals(tensor.buffer());
        }

        /** Returns whether a result shares memory with an operand of another name. */
        boolean isOfAnother(int index) {
            int slot = written[index];
            if (values[slot] instanceof Tensor tensor) {
                for (int i = 0; i < given.length; i++) {
                    if (i != slot && !isConstant[i] && given[i] instanceof Tensor other
                            && InterpretedResults.overlap(other, tensor)) {
                        return true;
                    }
                }
            }
            return false;
        }

        /**
         * Returns whether nothing but the frame has a reference to the operands and results: no operation of the block
         * asked for variables by name, and each result has memory of its own.
         */
        boolean exposesNothing() {
            if (isNamed) {
                return false;
            }
            for (int i = 0; i < written.length; i++) {
                if (values[written[i]] != null && !isOwn(i)) {
                    return false;
                }
            }
            return true;
        }

        /** Returns whether the operation has an operand of the name of a result. */
        boolean changes(int index) {
            return written[index] < given.length;
        }

        /** Returns the session of the block, in which the variables have their names. */
        @Override
        public synchronized BlockSession get() {
            BlockSession known = session;
            if (known == null) {
                BlockSession outer = around.sessions().get();
                for (int i = 0; i < values.length; i++) {
                    Object value = values[i];
                    if (value != null) {
                        // All runs share constants, and the interpreter may update its operands in place.
                        boolean isShared = i < given.length && isConstant[i] && !isWritten[i];
                        outer.set(names[i], isShared ? Copies.to(host, (Tensor) value) : value);
                    }
                }
                known = outer.inside(operation.block(), iteration);
                session = known;
                isNamed = true;
            }
            return known;
        }

        /** Ends the execution: the frame holds its variables. */
        void end() {
            if (isNamed) {
                BlockSession outer = around.sessions().get();
                for (String name : names) {
                    Interpretation.remove(outer, name);
                }
            }
        }

        @Override
        public @Nullable Object find(String name) {
            Integer slot = slots.get(name);
            return slot != null ? values[slot] : get().find(name);
        }

        @Override
        public synchronized void set(String name, Object value) {
            Integer slot = slots.get(name);
            if (slot != null) {
                values[slot] = value;
                isOwn[slot] = false;
            }
            if (slot == null || session != null) {
                get().set(name, value);
            }
        }

        @Override
        public void alias(String name, Tensor value) {
            get().alias(name, value);
        }

        @Override
        public boolean sharesMemory() {
            return false;
        }

        @Override
        public boolean isShared(Tensor tensor) {
            return false;
        }

        @Override
        public @Nullable PackedWeights packed(String name) {
            return around.bindings().packed(name);
        }

        @Override
        public @Nullable KeptResults kept(String name) {
            return around.bindings().kept(name);
        }
    }
}
