package io.seriatim.executor.schedule;

import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.Region;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.ValueTable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The parts of values' memory that tasks access, given by their operands. A task without operands accesses the whole
 * memory of its values.
 */
final class Footprints {
    private final List<Task> tasks;
    private final ValueTable values;
    private final boolean[] isPartial;
    /** The operands of each task by memory; null until they are wanted, because a task may have very many. */
    private final @Nullable Map<Integer, List<Arg>>[] parts;

    Footprints(List<Task> tasks, ValueTable values) {
        this.tasks = tasks;
        this.values = values;
        this.isPartial = new boolean[tasks.size()];
        this.parts = none(tasks.size());
        for (int i = 0; i < isPartial.length; i++) {
            isPartial[i] = tasks.get(i) instanceof Task.Compute compute
                    && compute.stages().stream()
                            .anyMatch(stage -> isPartial(stage.inputs()) || isPartial(stage.outputs()));
        }
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static @Nullable Map<Integer, List<Arg>>[] none(int count) {
        return new Map[count];
    }

    private boolean isPartial(List<@Nullable Arg> args) {
        for (Arg arg : args) {
            if (arg != null && arg.value() >= 0 && !arg.isWhole(values)) {
                return true;
            }
        }
        return false;
    }

    /** Returns whether two tasks are known to access disjoint bytes of some memory. */
    boolean areApart(int one, int two, int memory) {
        return areApart(one, memory, two, memory);
    }

    /**
     * Returns the same for two values that share memory: {@code ofOne} is accessed by {@code one}, {@code ofTwo} by
     * {@code two}.
     */
    boolean areApart(int one, int ofOne, int two, int ofTwo) {
        if (!isPartial[one] || !isPartial[two]) {
            return false;
        }
        List<Arg> first = parts(one, ofOne);
        List<Arg> second = parts(two, ofTwo);
        for (Arg a : first) {
            for (Arg b : second) {
                if (!Region.areApart(a, b)) {
                    return false;
                }
            }
        }
        return !first.isEmpty() && !second.isEmpty();
    }

    /** Returns whether one task accesses only parts of some memory that another task also accesses. */
    boolean isWithin(int one, int other, int memory) {
        if (!isPartial[other]) {
            return true;
        }
        List<Arg> outer = parts(other, memory);
        if (outer.isEmpty() || outer.stream().anyMatch(arg -> arg.isWhole(values))) {
            return true;
        }
        List<Arg> inner = parts(one, memory);
        return !inner.isEmpty() && inner.stream().allMatch(
                arg -> outer.stream()
                        .anyMatch(part -> part.offset() == arg.offset() && part.spec().equals(arg.spec())));
    }

    /** Returns the operands of a task in some memory; empty if the task may access all of it. */
    private List<Arg> parts(int task, int memory) {
        Map<Integer, List<Arg>> ofTask = parts[task];
        if (ofTask == null) {
            ofTask = parts(tasks.get(task));
            parts[task] = ofTask;
        }
        return ofTask.getOrDefault(memory, List.of());
    }

    /** Returns the operands of a task by memory, without memory of which the task may access all. */
    private Map<Integer, List<Arg>> parts(Task task) {
        Map<Integer, List<Arg>> parts = new HashMap<>();
        if (task instanceof Task.Compute compute) {
            Set<Integer> known = new HashSet<>();
            for (Stage stage : compute.stages()) {
                collect(stage.inputs(), parts, known);
                collect(stage.outputs(), parts, known);
            }
            for (int[] named : List.of(compute.reads(), compute.writes())) {
                for (int value : named) {
                    if (!known.contains(value)) {
                        parts.remove(values.memory(value));
                    }
                }
            }
        }
        return parts;
    }

    private void collect(List<@Nullable Arg> args, Map<Integer, List<Arg>> parts, Set<Integer> known) {
        for (Arg arg : args) {
            if (arg != null && arg.value() >= 0) {
                known.add(arg.value());
                parts.computeIfAbsent(values.memory(arg.value()), _ -> new ArrayList<>()).add(arg);
            }
        }
    }
}
