package io.seriatim.executor.pass;

import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.TaskGraph;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Assigns values to stacks, in which they are contiguous parts of a new, larger value. A value that several products
 * read, such as the state of a recurrent network, is in one stack for all of them. A stack grows at both ends while
 * products are found; a product whose order does not match is not batched.
 */
final class TimeStepGroups {
    private final TaskGraph tasks;
    private final ValueTable values;
    private final Map<Integer, Slot> slots = new HashMap<>();
    private final List<Stack> stacks = new ArrayList<>();

    /** Contiguous values. */
    private static final class Stack {
        private final TensorSpec part;
        private final ArrayDeque<Integer> parts = new ArrayDeque<>();
        /** The index of the first part; negative after parts have been added at the front. */
        private int first;
        private int whole = -1;

        Stack(TensorSpec part) {
            this.part = part;
        }
    }

    private record Slot(Stack stack, int index) {
    }

    /**
     * The place of an operand. Operands with the same base are contiguous if their offsets are.
     *
     * @param base
     *            a value or a stack; null if the operand has no place yet
     * @param offset
     *            the offset in the base, in bytes
     */
    record Where(@Nullable Object base, long offset) {
    }

    TimeStepGroups(TaskGraph tasks) {
        this.tasks = tasks;
        this.values = tasks.values();
    }

    /** Returns the place of an operand; null if it can neither be moved nor is a part of a larger value. */
    @Nullable
    Where where(Arg arg) {
        TensorSpec spec = values.spec(arg.value());
        if (spec == null || !arg.spec().isRowMajor()) {
            return null;
        }
        Slot slot = slots.get(arg.value());
        if (slot != null) {
            return new Where(slot.stack(), slot.index() * spec.bytes() + arg.offset());
        }
        if (arg.spec().bytes() < spec.bytes()) {
            return new Where(arg.value(), arg.offset());
        }
        return isMovable(arg.value()) ? new Where(null, 0) : null;
    }

    /** Returns whether a value can be moved: only kernels access it, by operands with strides. */
    private boolean isMovable(int value) {
        return values.isTemporary(value) && Objects.requireNonNull(values.spec(value)).isRowMajor()
                && tasks.readers(value).stream().allMatch(task -> isMovableIn(task, value))
                && tasks.writers(value).stream().allMatch(task -> isMovableIn(task, value));
    }

    private boolean isMovableIn(int index, int value) {
        if (!(tasks.get(index) instanceof Task.Compute task)) {
            return false;
        }
        boolean found = false;
        for (Stage stage : task.stages()) {
            for (Arg arg : stage.args()) {
                if (arg != null && arg.value() == value) {
                    if (arg.spec().layout() instanceof Layout.Opaque) {
                        return false;
                    }
                    found = true;
                }
            }
        }
        return found;
    }

    /** Returns whether the operands of each list are contiguous or can be made so. */
    boolean fit(List<List<Arg>> columns) {
        return columns.stream().allMatch(this::fits) && isDisjoint(columns);
    }

    /** Returns whether no value without a place is needed in two places. */
    private boolean isDisjoint(List<List<Arg>> columns) {
        List<Integer> free = columns.stream().flatMap(List::stream)
                .filter(arg -> Objects.requireNonNull(where(arg)).base() == null)
                .map(Arg::value).toList();
        return free.stream().distinct().count() == free.size();
    }

    private boolean fits(List<Arg> column) {
        long size = column.getFirst().spec().bytes();
        Object base = null;
        long start = 0;
        for (int i = 0; i < column.size(); i++) {
            Where where = Objects.requireNonNull(where(column.get(i)));
            if (where.base() != null) {
                if (base == null) {
                    base = where.base();
                    start = where.offset() - i * size;
                } else if (!base.equals(where.base()) || where.offset() != start + i * size) {
                    return false;
                }
            }
        }
        if (!(base instanceof Stack stack)) {
            return base == null || column.stream().noneMatch(arg -> Objects.requireNonNull(where(arg)).base() == null);
        }
        if (stack.part.bytes() != size) {
            return false;
        }
        int end = stack.first + stack.parts.size();
        for (int i = 0; i < column.size(); i++) {
            long index = start / size + i;
            boolean isFree = Objects.requireNonNull(where(column.get(i))).base() == null;
            if (isFree && index >= stack.first && index < end) {
                return false;
            }
        }
        return true;
    }

    /** Makes operands contiguous, for which {@link #fit} has returned true. */
    void put(List<Arg> column) {
        int known = 0;
        while (known < column.size() && Objects.requireNonNull(where(column.get(known))).base() == null) {
            known++;
        }
        if (known == column.size()) {
            Stack stack = new Stack(column.getFirst().spec());
            stacks.add(stack);
            column.forEach(arg -> append(stack, arg.value()));
        } else if (Objects.requireNonNull(where(column.get(known))).base() instanceof Stack stack) {
            for (int i = known - 1; i >= 0; i--) {
                stack.first--;
                stack.parts.addFirst(column.get(i).value());
                slots.put(column.get(i).value(), new Slot(stack, stack.first));
            }
            for (Arg arg : column) {
                if (!slots.containsKey(arg.value())) {
                    append(stack, arg.value());
                }
            }
        }
    }

    private void append(Stack stack, int value) {
        slots.put(value, new Slot(stack, stack.first + stack.parts.size()));
        stack.parts.addLast(value);
    }

    /** Adds the values of all stacks, after the last call of {@link #put}. */
    void finish() {
        for (Stack stack : stacks) {
            stack.whole = values.add(values.name(stack.parts.getFirst()) + "_stacked",
                    rows(stack.part, stack.parts.size()));
        }
    }

    private static TensorSpec rows(TensorSpec part, int count) {
        return TensorSpec.of(part.dtype(), Shape.of(part.shape().dim(0) * count, part.shape().dim(1)));
    }

    /** Returns contiguous operands as one operand. */
    Arg whole(List<Arg> column) {
        Arg first = moved(column.getFirst());
        return new Arg(first.source(), first.offset(), rows(first.spec(), column.size()));
    }

    /** Returns an operand at its new place. */
    Arg moved(Arg arg) {
        Slot slot = arg.value() < 0 ? null : slots.get(arg.value());
        if (slot == null) {
            return arg;
        }
        Stack stack = slot.stack();
        return new Arg(new Arg.Value(stack.whole), (slot.index() - stack.first) * stack.part.bytes() + arg.offset(),
                arg.spec());
    }

    /** Returns a task with all operands at their new places. */
    Task moved(Task task) {
        if (!(task instanceof Task.Compute compute)
                || (Arrays.stream(task.reads()).noneMatch(slots::containsKey)
                        && Arrays.stream(task.writes()).noneMatch(slots::containsKey))) {
            return task;
        }
        List<Stage> stages = compute.stages().stream()
                .map(stage -> stage.with(moved(stage.inputs()), moved(stage.outputs()))).toList();
        return new Task.Compute(compute.operations(), stages, compute.temporaries(), compute.place(),
                moved(compute.reads()),
                moved(compute.writes()));
    }

    private List<@Nullable Arg> moved(List<@Nullable Arg> args) {
        List<@Nullable Arg> moved = new ArrayList<>(args.size());
        for (Arg arg : args) {
            moved.add(arg == null ? null : moved(arg));
        }
        return moved;
    }

    private int[] moved(int[] touched) {
        return Arrays.stream(touched).map(value -> {
            Slot slot = slots.get(value);
            return slot == null ? value : slot.stack().whole;
        }).distinct().toArray();
    }
}
