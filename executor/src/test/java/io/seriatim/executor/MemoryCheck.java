package io.seriatim.executor;

import io.seriatim.device.Place;
import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.kernel.Computation;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Compares all pairs of allocations in arenas. If two overlap, all uses of one must end before the other begins.
 * Released memory must not be used any more.
 */
final class MemoryCheck {
    private final CompiledPlan plan;
    private final BitSet[] ancestors;
    private final Map<Integer, BitSet> users = new HashMap<>();
    private final List<String> violations = new ArrayList<>();

    /** An allocation in an arena and its users; {@code value} is −1 for the temporary memory of a task. */
    private record Part(String name, Place place, long offset, long bytes, BitSet users, int value) {
        boolean overlaps(Part other) {
            return place.equals(other.place) && offset < other.offset + other.bytes && other.offset < offset + bytes;
        }
    }

    MemoryCheck(CompiledPlan plan, BitSet[] ancestors) {
        this.plan = plan;
        this.ancestors = ancestors;
        for (int i = 0; i < plan.tasks().size(); i++) {
            for (int[] touched : new int[][]{plan.tasks().get(i).reads(), plan.tasks().get(i).writes()}) {
                for (int value : touched) {
                    users.computeIfAbsent(plan.values().memory(value), _ -> new BitSet()).set(i);
                }
            }
        }
    }

    List<String> violations() {
        List<Part> parts = parts();
        for (int i = 0; i < parts.size(); i++) {
            for (int j = i + 1; j < parts.size(); j++) {
                if (parts.get(i).overlaps(parts.get(j)) && !isOrdered(parts.get(i), parts.get(j))
                        && !isOrdered(parts.get(j), parts.get(i))) {
                    violations.add(parts.get(i) + " and " + parts.get(j)
                            + " overlap, and none is done with before the other begins");
                }
            }
        }
        releases();
        return violations;
    }

    private List<Part> parts() {
        List<Part> parts = new ArrayList<>();
        ValueTable values = plan.values();
        for (int i = 0; i < values.size(); i++) {
            TensorSpec spec = values.spec(i);
            long offset = plan.memory().offsets()[i];
            if (offset != plan.memory().offsets()[values.memory(i)]) {
                violations.add("'" + values.name(i) + "' does not lie where the memory lies that it shares");
            }
            if (offset >= 0 && spec != null && values.memory(i) == i && users.containsKey(i)) {
                parts.add(new Part("'" + values.name(i) + "'", Objects.requireNonNull(values.place(i)), offset,
                        spec.bytes(), users.get(i),
                        i));
                if (values.isWanted(i) || values.isPersistable(i)
                        || values.origin(i) != ValueNumbering.Origin.COMPUTED) {
                    violations.add("'" + values.name(i) + "' is known outside of the run, but lies in an arena");
                }
            }
        }
        for (int i = 0; i < plan.tasks().size(); i++) {
            if (plan.tasks().get(i) instanceof Task.Compute task) {
                BitSet only = new BitSet();
                only.set(i);
                for (int j = 0; j < task.temporaries().size(); j++) {
                    parts.add(new Part("temporary " + j + " of task " + i, task.place(),
                            plan.memory().temporaries()[i][j],
                            task.temporaries().get(j).bytes(), only, -1));
                }
            }
        }
        for (Part part : parts) {
            if (part.offset() < 0 || part.offset() % 64 != 0
                    || part.offset() + part.bytes() > plan.memory().arenas().getOrDefault(part.place(), 0L)) {
                violations.add(part + " is not within its arena, or not aligned");
            }
        }
        return parts;
    }

    /**
     * Returns whether all users of one allocation come before all users of the other, except for a task that computes
     * one from the other in place, and tasks that access different bytes.
     */
    private boolean isOrdered(Part first, Part second) {
        return first.users().stream()
                .allMatch(one -> second.users().stream().allMatch(other -> ancestors[other].get(one)
                        || (one == other && isTakenOver(one, first, second)) || areApart(one, first, other, second)));
    }

    private boolean areApart(int one, Part first, int other, Part second) {
        return first.value() >= 0 && second.value() >= 0 && first.offset() == second.offset()
                && !Bytes.meet(plan, one, first.value(), other, second.value());
    }

    private boolean isTakenOver(int index, Part input, Part output) {
        if (!(plan.tasks().get(index) instanceof Task.Compute task) || input.value() < 0 || output.value() < 0
                || input.offset() != output.offset()) {
            return false;
        }
        boolean written = false;
        for (Stage stage : task.stages()) {
            List<Integer> in = memories(stage.inputs());
            List<Integer> out = memories(stage.outputs());
            if (written && in.contains(input.value())) {
                return false;
            }
            if (out.contains(output.value()) && !written) {
                written = true;
                Computation computation = stage.computation();
                for (int i = 0; i < in.size(); i++) {
                    if (in.get(i) == input.value() && (computation == null || !computation.inPlace(i, stage.specs()))) {
                        return false;
                    }
                }
                Set<Object> specs = new HashSet<>();
                stage.inputs().stream().filter(arg -> arg != null && memories(List.of(arg)).contains(input.value()))
                        .forEach(arg -> specs.add(arg.spec()));
                stage.outputs().stream().filter(Objects::nonNull).forEach(arg -> specs.add(arg.spec()));
                if (specs.size() > 1) {
                    return false;
                }
            }
        }
        return written;
    }

    private List<Integer> memories(List<@Nullable Arg> args) {
        return args.stream().map(arg -> arg == null || arg.value() < 0 ? -1 : plan.values().memory(arg.value()))
                .toList();
    }

    private void releases() {
        Map<Integer, BitSet> after = new HashMap<>();
        for (int i = 0; i < plan.tasks().size(); i++) {
            for (int memory : plan.releases().after()[i]) {
                after.computeIfAbsent(memory, _ -> new BitSet()).set(i);
            }
        }
        after.forEach((memory, tasks) -> {
            String name = "'" + plan.values().name(memory) + "'";
            if (plan.releases().counts()[memory] != tasks.cardinality()) {
                violations.add(name + " is let go after " + plan.releases().counts()[memory] + " tasks, but " + tasks
                        + " count");
            }
            Objects.requireNonNull(users.get(memory)).stream()
                    .filter(user -> !tasks.get(user) && tasks.stream().noneMatch(task -> ancestors[task].get(user)))
                    .forEach(user -> violations
                            .add(name + " is let go after " + tasks + ", but task " + user + " may use it later"));
            if (Arrays.stream(memory(memory))
                    .anyMatch(value -> plan.values().isWanted(value) || plan.values().isPersistable(value))) {
                violations.add(name + " is let go, but is known outside of the run");
            }
        });
        for (int memory = 0; memory < plan.values().size(); memory++) {
            boolean own = plan.values().memory(memory) == memory && plan.memory().offsets()[memory] < 0
                    && plan.values().constant(memory) == null
                    && plan.values().origin(memory) == ValueNumbering.Origin.COMPUTED && users.containsKey(memory)
                    && Arrays.stream(memory(memory))
                            .noneMatch(value -> plan.values().isWanted(value) || plan.values().isPersistable(value));
            if (own && !after.containsKey(memory)) {
                violations.add("'" + plan.values().name(memory) + "' is never let go");
            }
        }
    }

    /** Returns the values that share some memory. */
    private int[] memory(int memory) {
        return IntStream.range(0, plan.values().size())
                .filter(value -> plan.values().memory(value) == memory).toArray();
    }
}
