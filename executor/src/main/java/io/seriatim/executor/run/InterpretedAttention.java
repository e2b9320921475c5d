package io.seriatim.executor.run;

import io.seriatim.device.Device;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.graph.interpret.RepeatedOperation;
import io.seriatim.graph.interpret.RepeatedOperation.SingleStep;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.network.Softmax;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.portable.row.RowAttention;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Attention of one row over operands of open sizes, found among the interpreted operations of a plan: a product with
 * keys, perhaps transposed, then sums and products with other numbers, a softmax, and a product with values. The
 * scores stay in an array: each of these operations does its part at its own place in the plan, when its operands are
 * there, but no tensors are made in between, nothing is looked up for a length, and keys are read as they lie.
 *
 * <p>
 * Attention is found when its last operation has run: then what all of them compute is known. Whatever does not fit in
 * a later run, such as other types of operands, is computed operation by operation from there on. One run at a time
 * uses this, like the frame to which it belongs.
 */
final class InterpretedAttention {
    private static final int SCORES_RANK = 2;

    private final CompiledPlan plan;
    private final ValueTable values;
    private final IntFunction<@Nullable RepeatedOperation> operations;
    private final boolean isSerial;
    /** By task, its part in an attention; null if it has none. */
    private final @Nullable Part[] parts;
    private final boolean[] isExamined;
    private @Nullable Map<Integer, Uses> uses;
    private boolean isUsed;

    /** What a task does for an attention. */
    private enum Role {
        TRANSPOSE, BEGIN, COMBINE, SOFTMAX, END
    }

    /**
     * A task of an attention.
     *
     * @param chain
     *            the operand that the task before has computed; for the first product, the row
     * @param other
     *            the other operand; −1 if there is none
     * @param function
     *            how they are combined; null if they are not
     */
    private record Part(Group group, Role role, int chain, int other, Binary.@Nullable Function function) {
    }

    /** An attention. */
    private static final class Group {
        private final RowAttention rows = new RowAttention();
        private final boolean isTransposed;
        /** The task that transposes the keys; −1 if there is none. */
        private final int transpose;
        private @Nullable Tensor keys;
        /** Whether the scores are in the array, and in no tensor. */
        private boolean isActive;

        Group(boolean isTransposed, int transpose) {
            this.isTransposed = isTransposed;
            this.transpose = transpose;
        }
    }

    /** The tasks that use a value. */
    private static final class Uses {
        private final List<Integer> readers = new ArrayList<>();
        private final List<Integer> writers = new ArrayList<>();
        /** How many values have its memory; 0 if it has that of another. */
        private int sharing;
    }

    InterpretedAttention(CompiledPlan plan, IntFunction<@Nullable RepeatedOperation> operations, boolean isSerial) {
        this.plan = plan;
        this.values = plan.values();
        this.operations = operations;
        this.isSerial = isSerial;
        this.parts = new Part[plan.tasks().size()];
        this.isExamined = new boolean[parts.length];
    }

    /** Where operands and results are. */
    interface Memory {
        @Nullable
        Object get(int value);

        /** Gives a value, the first result of a task, a tensor. */
        void give(int task, Tensor tensor);

        /** Runs the operation of a task as any other. */
        void run(int task);

        Device host();
    }

    /** Returns whether an attention was computed without tensors in between. */
    boolean isUsed() {
        return isUsed;
    }

    /** Does the part of a task; returns false if the operation must compute its result. */
    boolean run(int task, Memory memory) {
        Part part = parts[task];
        if (part == null) {
            return false;
        }
        Group group = part.group;
        KernelContext context = KernelContext.current();
        switch (part.role) {
            case TRANSPOSE -> {
                group.keys = tensor(memory, part.chain);
                return group.keys != null;
            }
            case BEGIN -> {
                return begin(part, memory, context);
            }
            default -> {
                if (!group.isActive) {
                    return false;
                }
            }
        }
        boolean isDone = switch (part.role) {
            case COMBINE -> {
                Tensor other = tensor(memory, part.other);
                yield other != null && part.function != null && group.rows.combine(part.function, other);
            }
            case SOFTMAX -> {
                group.rows.softmax(context);
                yield true;
            }
            default -> end(part, task, memory, context);
        };
        if (!isDone) {
            group.isActive = false;
            Tensor scores = Tensor.allocate(memory.host(), group.rows.spec());
            group.rows.store(scores);
            memory.give(producer(part.chain), scores);
            return false;
        }
        return true;
    }

    private static boolean begin(Part part, Memory memory, KernelContext context) {
        Group group = part.group;
        Tensor keys = group.transpose < 0 ? tensor(memory, part.other) : group.keys;
        Tensor row = tensor(memory, part.chain);
        group.keys = null;
        if (keys == null) {
            group.isActive = false;
            return false;
        }
        group.isActive = row != null && group.rows.begin(row, keys, group.isTransposed, context);
        if (!group.isActive && group.transpose >= 0) {
            memory.run(group.transpose);
        }
        return group.isActive;
    }

    private boolean end(Part part, int task, Memory memory, KernelContext context) {
        Group group = part.group;
        Tensor other = tensor(memory, part.other);
        TensorSpec spec = other == null ? null : group.rows.result(other);
        if (other == null || spec == null) {
            return false;
        }
        Tensor result = Tensor.allocate(memory.host(), spec);
        group.rows.end(other, result, context);
        group.isActive = false;
        isUsed = true;
        memory.give(task, result);
        return true;
    }

    private static @Nullable Tensor tensor(Memory memory, int value) {
        return memory.get(value) instanceof Tensor tensor ? tensor : null;
    }

    /** Looks for an attention whose last operation is a task that has just run. */
    void examine(int task) {
        if (isExamined[task] || plan.open().isNone()) {
            return;
        }
        isExamined[task] = true;
        Found end = find(task, Role.END);
        if (end != null) {
            group(end);
        }
    }

    /** A task that may belong to an attention, and what it reads. */
    private record Found(int task, SingleStep step, int chain, int other) {
    }

    private void group(Found end) {
        List<Found> found = new ArrayList<>();
        List<Role> roles = new ArrayList<>();
        found.add(end);
        roles.add(Role.END);
        Role wanted = Role.SOFTMAX;
        int value = end.chain;
        while (true) {
            int producer = onlyFor(value);
            Found each = producer < 0 ? null : find(producer, wanted);
            Role role = wanted;
            if (each == null && wanted == Role.COMBINE && producer >= 0) {
                each = find(producer, Role.BEGIN);
                role = Role.BEGIN;
            }
            if (each == null) {
                return;
            }
            found.add(each);
            roles.add(role);
            if (role == Role.BEGIN) {
                break;
            }
            value = each.chain;
            wanted = Role.COMBINE;
        }
        Found begin = found.getLast();
        int producer = onlyFor(begin.other);
        Found transpose = product(begin).transposeY() || producer < 0 ? null : find(producer, Role.TRANSPOSE);
        if (transpose != null && stays(transpose.chain, begin.task)) {
            found.add(transpose);
            roles.add(Role.TRANSPOSE);
        } else {
            transpose = null;
        }
        Group group = new Group(transpose == null && !product(begin).transposeY(),
                transpose == null ? -1 : transpose.task);
        for (int i = 0; i < found.size(); i++) {
            Found each = found.get(i);
            parts[each.task] = new Part(group, roles.get(i), each.chain, each.other,
                    each.step.computation() instanceof Binary binary ? binary.function() : null);
        }
    }

    private static MatMul product(Found begin) {
        return (MatMul) begin.step.computation();
    }

    /** Returns what a task reads if it may have a role; null if it may not. */
    private @Nullable Found find(int index, Role role) {
        if (!(plan.tasks().get(index) instanceof Task.Interpreted task)) {
            return null;
        }
        RepeatedOperation operation = operations.apply(index);
        SingleStep step = operation == null ? null : operation.single();
        if (step == null || step.result() != 0
                || step.specs().stream().anyMatch(each -> each.dtype() != DType.FLOAT32)
                || Arrays.stream(task.writes()).skip(1).anyMatch(value -> isUsed(value))) {
            return null;
        }
        int chain = task.reads()[step.operands().getFirst()];
        int other = step.operands().size() > 1 ? task.reads()[step.operands().get(1)] : -1;
        if (chain == other && role != Role.BEGIN) {
            return null;
        }
        TensorSpec out = step.specs().getLast();
        TensorSpec first = step.specs().getFirst();
        boolean fits = out.isRowMajor() && out.shape().rank() >= SCORES_RANK && switch (role) {
            case TRANSPOSE -> step.computation() instanceof Copy && isTransposition(first, out);
            case BEGIN, END -> step.computation() instanceof MatMul product && !product.transposeX() && !product.bias()
                    && product.postOps().isEmpty() && !(role == Role.END && product.transposeY())
                    && step.specs().stream().allMatch(TensorSpec::isRowMajor) && out.shape().dim(-2) == 1;
            case SOFTMAX -> step.computation() instanceof Softmax softmax && !softmax.log()
                    && Math.floorMod(softmax.axis(), out.shape().rank()) == out.shape().rank() - 1
                    && first.equals(out);
            case COMBINE -> step.computation() instanceof Binary binary && binary.postOps().isEmpty()
                    && RowAttention.isArithmetic(binary.function()) && other >= 0
                    && step.specs().stream().allMatch(TensorSpec::isRowMajor);
        };
        if (!fits) {
            return null;
        }
        if (role == Role.COMBINE && !(first.equals(out) && onlyFor(chain) >= 0)) {
            Binary.Function function = ((Binary) step.computation()).function();
            boolean isEither = function == Binary.Function.ADD || function == Binary.Function.MULTIPLY;
            return isEither && step.specs().get(1).equals(out) ? new Found(index, step, other, chain) : null;
        }
        return new Found(index, step, chain, other);
    }

    /** Returns whether a view has the last two dimensions of a row-major tensor exchanged. */
    private static boolean isTransposition(TensorSpec view, TensorSpec out) {
        int rank = out.shape().rank();
        long[] dims = out.shape().dims();
        long rows = dims[rank - 2];
        dims[rank - 2] = dims[rank - 1];
        dims[rank - 1] = rows;
        long[] strides = TensorSpec.of(out.dtype(), dims).strides();
        long last = strides[rank - 2];
        strides[rank - 2] = strides[rank - 1];
        strides[rank - 1] = last;
        return view.shape().equals(out.shape()) && rows > 1 && dims[rank - 2] > 1
                && Arrays.equals(view.strides(), strides);
    }

    /** Returns the interpreted task that computes a value for one other task only; −1 if there is none. */
    private int onlyFor(int value) {
        if (value < 0 || !isTemporary(value) || uses(value).readers.size() != 1) {
            return -1;
        }
        int producer = producer(value);
        return producer >= 0 && plan.tasks().get(producer) instanceof Task.Interpreted task
                && task.writes()[0] == value ? producer : -1;
    }

    private int producer(int value) {
        List<Integer> writers = uses(value).writers;
        return writers.size() == 1 ? writers.getFirst() : -1;
    }

    private boolean isTemporary(int value) {
        return uses(value).sharing == 1 && values.result(value) == value && !values.isWanted(value)
                && !values.isPersistable(value) && values.constant(value) == null && !values.isPart(value)
                && !values.hasParts(value) && values.origin(value) == ValueNumbering.Origin.COMPUTED;
    }

    private boolean isUsed(int value) {
        return values.isWanted(value) || !uses(value).readers.isEmpty();
    }

    /** Returns whether a value that a task transposes is still there, and the same, when a later task runs. */
    private boolean stays(int value, int task) {
        if (uses(value).sharing != 1 || values.isPart(value) || values.hasParts(value)
                || values.isPersistable(value)) {
            return false;
        }
        boolean isOwn = values.origin(value) == ValueNumbering.Origin.COMPUTED;
        return uses(value).writers.size() == (isOwn ? 1 : 0) && values.spec(value) == null
                && (values.isWanted(value) || !isOwn
                        || (isSerial && uses(value).readers.stream().anyMatch(reader -> reader > task)));
    }

    private Uses uses(int value) {
        Map<Integer, Uses> all = uses;
        if (all == null) {
            all = new HashMap<>();
            for (int i = 0; i < parts.length; i++) {
                Task task = plan.tasks().get(i);
                int index = i;
                Map<Integer, Uses> known = all;
                Arrays.stream(task.reads()).distinct()
                        .forEach(each -> known.computeIfAbsent(each, _ -> new Uses()).readers.add(index));
                Arrays.stream(task.writes()).distinct()
                        .forEach(each -> known.computeIfAbsent(each, _ -> new Uses()).writers.add(index));
            }
            for (int i = 0; i < values.size(); i++) {
                all.computeIfAbsent(values.memory(i), _ -> new Uses()).sharing++;
            }
            uses = all;
        }
        return all.getOrDefault(value, new Uses());
    }
}
