package io.seriatim.executor.schedule;

import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.Region;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.ValueTable;
import java.util.ArrayList;
import java.util.List;

/** Which parts of values' memory tasks touch: those that their operands are. A task that does not say touches all. */
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

    private boolean isPartial(List<@org.jspecify.annotations.Nullable Arg> args) {
        for (Arg arg : args) {
            if (arg != null && arg.value() >= 0 && !arg.isWhole(values)) {
                return true;
            }
        }
        return false;
    }

    /** Whether what two tasks touch of some memory surely has no byte in common. */
    boolean areApart(int one, int two, int memory) {
        return areApart(one, memory, two, memory);
    }

    /** The same, of memory that is one for both. */
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

    /** Whether one touches nothing of some memory but what another one touches. */
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

    /** None if the task may touch all. */
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

    private void collect(List<@org.jspecify.annotations.Nullable Arg> args, int memory, List<Arg> parts) {
        for (Arg arg : args) {
            if (arg != null && arg.value() >= 0 && values.memory(arg.value()) == memory) {
                parts.add(arg);
            }
        }
    }

    /** Whether there is an operand for each value that a task names. */
    private boolean isKnown(int[] named, int memory, List<Arg> parts) {
        for (int value : named) {
            if (values.memory(value) == memory && parts.stream().noneMatch(arg -> arg.value() == value)) {
                return false;
            }
        }
        return true;
    }
}
