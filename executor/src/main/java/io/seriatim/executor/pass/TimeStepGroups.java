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
 * Which values lie one after the other, each a part of a larger one that is made up. What several products read, such
 * as the state of a recurrent network, is in one stack for all of them: it grows at its ends while products are found,
 * and a product for which the order does not fit is left as it is.
 */
final class TimeStepGroups {
    private final TaskGraph tasks;
    private final ValueTable values;
    private final Map<Integer, Slot> slots = new HashMap<>();
    private final List<Stack> stacks = new ArrayList<>();

    /** Values one after the other. */
    private static final class Stack {
        private final TensorSpec part;
        private final ArrayDeque<Integer> parts = new ArrayDeque<>();
        /** The index of the first part; below 0 when parts have been put before it. */
        private int first;
        private int whole = -1;

        Stack(TensorSpec part) {
            this.part = part;
        }
    }

    private record Slot(Stack stack, int index) {
    }

    /**
     * Where an operand lies, or will lie: operands with the same base are one after the other if their offsets are.
     *
     * @param base
     *            a value, or a stack; null if it may still be put anywhere
     * @param offset
     *            in bytes
     */
    record Where(@Nullable Object base, long offset) {
    }

    TimeStepGroups(TaskGraph tasks) {
        this.tasks = tasks;
        this.values = tasks.values();
    }

    boolean isEmpty() {
        return stacks.isEmpty();
    }

    /** Where an operand of a value lies; null if it neither can be moved nor is a part of something larger. */
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

    /** Whether only kernels know where it lies. */
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

    /** Whether operands lie, or can be put, one after the other, those of each list. */
    boolean fit(List<List<Arg>> columns) {
        return columns.stream().allMatch(this::fits) && isDisjoint(columns);
    }

    /** A value has one place only: what is in no stack yet must not be wanted in two. */
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

    /** Puts operands that fit one after the other. */
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

    /** Makes up the wholes, when no more is put. */
    void finish() {
        for (Stack stack : stacks) {
            stack.whole = values.add(values.name(stack.parts.getFirst()) + "_stacked",
                    rows(stack.part, stack.parts.size()));
        }
    }

    private static TensorSpec rows(TensorSpec part, int count) {
        return TensorSpec.of(part.dtype(), Shape.of(part.shape().dim(0) * count, part.shape().dim(1)));
    }

    /** Operands that have been put one after the other, as one. */
    Arg whole(List<Arg> column) {
        Arg first = moved(column.getFirst());
        return new Arg(first.source(), first.offset(), rows(first.spec(), column.size()));
    }

    /** An operand where it lies now. */
    Arg moved(Arg arg) {
        Slot slot = arg.value() < 0 ? null : slots.get(arg.value());
        if (slot == null) {
            return arg;
        }
        Stack stack = slot.stack();
        return new Arg(new Arg.Value(stack.whole), (slot.index() - stack.first) * stack.part.bytes() + arg.offset(),
                arg.spec());
    }

    /** A task on values where they lie now. */
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
