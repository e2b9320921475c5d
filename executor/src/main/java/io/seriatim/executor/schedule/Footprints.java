package io.seriatim.executor.schedule;

import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.Region;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.ValueTable;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The parts of values' memory that tasks access, given by their operands. A task without operands accesses the whole
 * memory of its values.
 */
final class Footprints {
    private final List<Task> tasks;
    private final ValueTable values;
    private final boolean[] isPartial;

    Footprints(List<Task> tasks, ValueTable values) {
        this.tasks = tasks;
        this.values = values;
        this.isPartial = new boolean[tasks.size()];
        for (int i = 0; i < isPartial.length; i++) {
            isPartial[i] = tasks.get(i) instanceof Task.Compute compute
                    && compute.stages().stream()
                            .anyMatch(stage -> isPartial(stage.inputs()) || isPartial(stage.outputs()));
        }
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
        List<Arg> parts = new ArrayList<>();
        if (tasks.get(task) instanceof Task.Compute compute) {
            for (Stage stage : compute.stages()) {
                collect(stage.inputs(), memory, parts);
                collect(stage.outputs(), memory, parts);
            }
            if (!isKnown(compute.reads(), memory, parts) || !isKnown(compute.writes(), memory, parts)) {
                return List.of();
            }
        }
        return parts;
    }

    private void collect(List<@Nullable Arg> args, int memory, List<Arg> parts) {
        for (Arg arg : args) {
            if (arg != null && arg.value() >= 0 && values.memory(arg.value()) == memory) {
                parts.add(arg);
            }
        }
    }

    /** Returns whether each value in some memory that a task reads or writes is one of its operands. */
    private boolean isKnown(int[] named, int memory, List<Arg> parts) {
        for (int value : named) {
            if (values.memory(value) == memory && parts.stream().noneMatch(arg -> arg.value() == value)) {
                return false;
            }
        }
        return true;
    }
}
