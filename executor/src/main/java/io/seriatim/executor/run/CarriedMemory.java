package io.seriatim.executor.run;

import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.graph.interpret.BlockSession;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The memory of small variables that a loop passes on from iteration to iteration. Each variable has two buffers in
 * turn: while an iteration reads one, it writes the other. Variables that grow, and that the block is given without a
 * copy ({@link MovedResults}), are freed as soon as they are free, so that the next value gets memory that is still in
 * the cache.
 *
 * <p>
 * The value of a variable before an iteration is free after it if the iteration before has computed it in this frame,
 * so that it has only been a variable of the loop; if the iteration has given the variable another value; and if no
 * other result has the same memory. Nothing else refers to it: between iterations, only the condition is read, and no
 * instruction that may keep a reference reads the variable, before or after it is written. One run at a time uses this,
 * like the frame to which it belongs.
 */
final class CarriedMemory {
    /** For larger values, the time of an allocation does not count, and idle frames should not keep them. */
    static final long MOST_BYTES = 1 << 16;
    private static final CarriedMemory NONE = new CarriedMemory(List.of(), null);

    private final List<Variable> variables;
    private final @Nullable ExposedMemory exposed;
    /** The tensors that this run has given as results. */
    private final List<Tensor> results = new ArrayList<>();
    private BlockSession.@Nullable Iteration latest;
    private boolean follows;

    /**
     * A variable: its place among the external values, −1 if only its next value counts, and this value. A variable of
     * the block itself has no value before an iteration.
     */
    private static final class Variable {
        private final String name;
        private final boolean isLocal;
        private final int external;
        /** The memory of the external value; −1 if there is none. */
        private final int externalMemory;
        private final int value;
        /** Its type; null if it has another size in each iteration. */
        private final @Nullable TensorSpec spec;
        /** What the variable was before this iteration. */
        private @Nullable Tensor before;
        /** What this iteration has given. */
        private @Nullable Tensor next;
        /** What the iteration before has given. */
        private @Nullable Tensor given;
        private @Nullable Tensor spare;

        Variable(String name, boolean isLocal, int external, int externalMemory, int value,
                @Nullable TensorSpec spec) {
            this.name = name;
            this.isLocal = isLocal;
            this.externalMemory = externalMemory;
            this.external = external;
            this.value = value;
            this.spec = spec;
        }

        /** Returns what the variable is before an iteration, if its memory is of use. */
        @Nullable
        Tensor find(RunContext run) {
            Object found = external >= 0 ? run.externals()[external] : isLocal ? null : run.bindings().find(name);
            return found instanceof Tensor tensor && (spec == null || tensor.spec().equals(spec)) ? tensor : null;
        }

        /** Forgets the values of another loop; the spare memory is nobody else's, and serves this one. */
        void forget() {
            before = null;
            next = null;
            given = null;
        }
    }

    private CarriedMemory(List<Variable> variables, @Nullable ExposedMemory exposed) {
        this.variables = variables;
        this.exposed = exposed;
    }

    /** Returns the memory of the variables that a block reads and writes. */
    static CarriedMemory of(CompiledPlan plan, MemoryRules rules, MovedResults moved, ExposedMemory exposed) {
        ValueTable values = plan.values();
        boolean applies = plan.accesses().block().index() > 0 && plan.streams().isHostOnly() && !values.hasParts()
                && plan.tasks().stream().noneMatch(Task.Rest.class::isInstance);
        if (!applies) {
            return NONE;
        }
        Set<Integer> kept = new HashSet<>();
        Set<Integer> excluded = new HashSet<>();
        Set<Integer> allocated = new HashSet<>();
        Set<Integer> grown = new HashSet<>();
        for (int i = 0; i < plan.tasks().size(); i++) {
            Task task = plan.tasks().get(i);
            if (task.needsInterpreter()) {
                Arrays.stream(task.reads()).map(values::memory).filter(memory -> !exposed.isTracked(memory))
                        .forEach(kept::add);
            }
            if (moved.isMove(i)) {
                grown.add(task.writes()[0]);
            }
            if (task.isUnplanned()) {
                Arrays.stream(task.writes()).map(values::memory).forEach(excluded::add);
            }
            Arrays.stream(rules.allocations()[i]).forEach(allocated::add);
        }
        excluded.addAll(kept);
        int[] externals = plan.accesses().externals();
        Map<String, Integer> read = HashMap.newHashMap(externals.length);
        for (int i = 0; i < externals.length; i++) {
            read.put(values.name(externals[i]), i);
        }
        List<Variable> variables = new ArrayList<>();
        for (int value : plan.accesses().wanted()) {
            TensorSpec spec = values.spec(value);
            if (spec == null) {
                Integer before = read.get(values.name(value));
                if (before != null && grown.contains(value) && !kept.contains(value)
                        && values.origin(externals[before]) == ValueNumbering.Origin.OUTSIDE
                        && !values.isPersistable(externals[before])
                        && values.memory(externals[before]) == externals[before]
                        && !kept.contains(externals[before])) {
                    variables.add(new Variable(values.name(value), false, before, externals[before], value, null));
                }
                continue;
            }
            boolean isOwn = spec.bytes() <= MOST_BYTES && values.isSeparate(value)
                    && values.result(value) == value && allocated.contains(value) && !excluded.contains(value);
            Integer external = read.get(values.name(value));
            boolean isKept = external != null && (values.origin(externals[external]) != ValueNumbering.Origin.OUTSIDE
                    || values.isPersistable(externals[external])
                    || excluded.contains(values.memory(externals[external])));
            if (isOwn && !isKept) {
                boolean isLocal = plan.accesses().block().var(values.name(value)) != null;
                variables.add(new Variable(values.name(value), isLocal, external == null ? -1 : external,
                        external == null ? -1 : values.memory(externals[external]), value, spec));
            }
        }
        return variables.isEmpty() ? NONE : new CarriedMemory(variables, exposed);
    }

    void begin(RunContext run) {
        if (this == NONE) {
            return;
        }
        BlockSession.Iteration now = run.iteration();
        BlockSession.Iteration last = latest;
        follows = now != null && last != null && now.follows(last);
        latest = now;
        for (Variable each : variables) {
            if (!follows) {
                each.forget();
            }
            each.before = follows ? each.find(run) : null;
        }
    }

    /** Returns memory for the next value of a variable; null if there is none. */
    @Nullable
    Tensor take(int memory) {
        for (Variable each : variables) {
            if (each.value == memory) {
                Tensor spare = each.spare;
                each.spare = null;
                if (spare != null) {
                    // It holds another value from now on, which copies that were made of the last one do not have.
                    spare.buffer().changed();
                }
                return spare;
            }
        }
        return null;
    }

    /**
     * Records a result of the run.
     *
     * @param isNew
     *            whether the interpreter has given it memory that nothing else has
     */
    void gave(int wanted, Tensor tensor, boolean isNew) {
        if (this == NONE || latest == null) {
            return;
        }
        results.add(tensor);
        for (Variable each : variables) {
            if (each.value == wanted && (each.spec != null || isNew)) {
                each.next = tensor;
            }
        }
    }

    /** Ends an iteration: what its variables were before it is free. */
    @SuppressWarnings("ReferenceEquality") // The tensor itself, not an equal one.
    void end() {
        if (this == NONE || latest == null) {
            return;
        }
        for (Variable each : variables) {
            Tensor before = each.before;
            if (follows && before != null && before == each.given && each.next != null && !isResult(before)
                    && !isExposed(each.externalMemory)) {
                before.buffer().settle();
                if (each.spec == null) {
                    // The next size fits into the same block mostly.
                    before.close();
                } else {
                    each.spare = before;
                }
            }
            each.given = isExposed(each.value) ? null : each.next;
            each.next = null;
            each.before = null;
        }
        results.clear();
    }

    /** Returns whether the interpreter had a memory in this iteration, and may have kept it. */
    private boolean isExposed(int memory) {
        ExposedMemory known = exposed;
        return memory >= 0 && known != null && known.isTaken(memory);
    }

    private boolean isResult(Tensor tensor) {
        for (Tensor result : results) {
            if (result.buffer().equals(tensor.buffer())) {
                return true;
            }
        }
        return false;
    }

    void close() {
        for (Variable each : variables) {
            if (each.spare != null) {
                each.spare.close();
                each.spare = null;
            }
            each.forget();
        }
    }
}
