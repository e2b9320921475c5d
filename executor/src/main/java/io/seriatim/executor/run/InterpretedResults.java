package io.seriatim.executor.run;

import io.seriatim.executor.ir.Copies;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.tensor.Tensor;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Stores the results of interpreted operations. A result that has memory of another variable, or memory that may come
 * to be shared, is copied.
 */
final class InterpretedResults {
    private final ValueTable values;
    private final Frame frame;
    private final Storage storage;
    /** By value, whether it was given new memory when it was last computed. */
    private final boolean[] isNew;
    /** By value, whether a branch or loop gave it memory that nothing else has, for a selection, its only reader. */
    private final boolean[] isForSelection;

    InterpretedResults(ValueTable values, Frame frame, Storage storage, boolean[] isNew) {
        this.values = values;
        this.frame = frame;
        this.storage = storage;
        this.isNew = isNew;
        this.isForSelection = new boolean[values.size()];
    }

    /** Returns a result of a branch or loop, which no longer has it; null if something else may have its memory. */
    @Nullable
    Tensor takeForSelection(int value) {
        boolean isFree = isForSelection[value] && !storage.exposed().isTaken(value);
        isForSelection[value] = false;
        if (!isFree || !(storage.get(value) instanceof Tensor tensor)) {
            return null;
        }
        storage.set(value, null);
        return tensor;
    }

    /**
     * Stores the results of an operation. All are separated before the first one is stored, which may overwrite the
     * memory of a variable.
     *
     * @param computed
     *            gives a result by its name, null if there is none
     * @param given
     *            the memory that the interpreter was given, by the names of its variables
     * @return what is stored, in order
     */
    @Nullable
    Object[] take(Task.Interpreted task, Function<String, @Nullable Object> computed,
            Supplier<Map<String, Tensor>> given) {
        int[] writes = task.access().writes();
        @Nullable
        Object[] found = new Object[writes.length];
        Map<String, Tensor> operands = null;
        for (int i = 0; i < writes.length; i++) {
            Object value = computed.apply(values.name(writes[i]));
            if (value instanceof Tensor && operands == null) {
                operands = given.get();
            }
            found[i] = value == null ? null : separate(task, i, value, operands == null ? Map.of() : operands);
        }
        for (int i = 0; i < writes.length; i++) {
            Object value = found[i];
            if (value != null) {
                take(task, i, value);
            }
        }
        return found;
    }

    /**
     * Returns a result of an operation, in other memory than that of other variables which the operation was given: it
     * may return another input unchanged, such as a gradient.
     */
    private Object separate(Task.Interpreted task, int index, Object value, Map<String, Tensor> given) {
        String name = values.name(task.access().writes()[index]);
        boolean changed = task.access().read(name) >= 0;
        return value instanceof Tensor tensor
                && ((!changed && storage.isInArena(tensor)) || isOfAnother(tensor, changed ? name : null, given))
                        ? Copies.to(frame.host(), tensor)
                        : value;
    }

    /** Stores a result that is separate from other variables. */
    @SuppressWarnings("ReferenceEquality") // The tensor itself, not an equal one.
    void take(Task.Interpreted task, int index, Object value) {
        int number = task.access().writes()[index];
        String name = values.name(number);
        int target = task.writes()[index];
        isNew[target] = false;
        isForSelection[target] = false;
        Object before = storage.get(target);
        if (before instanceof Tensor place && isOverwritten(target, place)) {
            overwrite(name, place, value);
            return;
        }
        if (value == before && values.isDeclared(target)) {
            return;
        }
        if (values.isDeclared(target)) {
            own(task, name, target, value);
            return;
        }
        storage.set(target, value);
        // A variable that is on a device is updated by a transfer instead.
        if (target == number && values.isPersistable(number)) {
            frame.context().bindings().set(name, value);
            // Later kernels use the tensor that the scope now holds.
            if (frame.context().bindings().find(name) instanceof Tensor there && values.memory(number) == number
                    && there.spec().equals(values.spec(number))) {
                storage.bind(number, there);
            }
        }
    }

    /**
     * Returns whether a new value of a variable is copied to the memory of the one before: memory that other variables
     * share, or that is fixed for all runs. Elsewhere something else may have a reference to it.
     */
    private boolean isOverwritten(int target, Tensor place) {
        return storage.isShared(target)
                || (values.isDeclared(target) && (storage.isInArena(place) || values.isPersistable(target)));
    }

    /**
     * Returns a result of a branch or loop that has run on values by index, in other memory than that of other
     * operands.
     */
    Object separate(int index, Object value, ControlFlow.Run run) {
        return value instanceof Tensor tensor && !run.isOwn(index)
                && ((!run.changes(index) && storage.isInArena(tensor)) || run.isOfAnother(index))
                        ? Copies.to(frame.host(), tensor)
                        : value;
    }

    /** Stores a result of a branch or loop that is separate from other variables. */
    @SuppressWarnings("ReferenceEquality") // The tensor itself, not an equal one.
    void take(Task.Interpreted task, int index, Object value, ControlFlow.Run run) {
        int target = task.writes()[index];
        String name = values.name(task.access().writes()[index]);
        isNew[target] = false;
        Object before = storage.get(target);
        if (!values.isDeclared(target)) {
            storage.set(target, value);
            isForSelection[target] = run.isOwn(index);
        } else if (value == before) {
            return;
        } else if (before instanceof Tensor place && isOverwritten(target, place)) {
            overwrite(name, place, value);
        } else if (run.isOwn(index) && value instanceof Tensor tensor && tensor.spec().equals(values.spec(target))) {
            storage.bind(target, tensor);
        } else {
            own(task, name, target, value);
        }
    }

    /**
     * Gives a value of a known type memory of its own, since it may come to be shared with other variables. The
     * interpreter may return the same tensor under several names.
     */
    private void own(Task.Interpreted task, String name, int target, Object value) {
        if (!(value instanceof Tensor tensor) || !tensor.spec().rowMajor().equals(values.spec(target))) {
            throw new IllegalStateException("'" + name + "', a result of operation '" + task.name()
                    + "', must have the type and shape that the program declares or that follow from its operands, "
                    + values.spec(target) + ", but has "
                    + (value instanceof Tensor tensor ? tensor.spec() : value.getClass().getSimpleName()));
        }
        Tensor own = Copies.to(frame.host(), tensor);
        if (values.isPersistable(target)) {
            frame.context().bindings().set(name, own);
            own = frame.context().bindings().find(name) instanceof Tensor there ? there : own;
        }
        storage.bind(target, own);
    }

    /** Copies a written value into memory that other variables share. */
    private static void overwrite(String name, Tensor place, Object value) {
        if (!(value instanceof Tensor tensor) || !tensor.spec().rowMajor().equals(place.spec())) {
            throw new IllegalStateException(
                    "'" + name + "' shares memory with other variables, so its type and shape must stay " + place.spec()
                            + ", but the new value is "
                            + (value instanceof Tensor tensor ? tensor.spec() : value.getClass().getSimpleName())
                            + ": write the new value to another variable");
        }
        boolean isThere = tensor.buffer() == place.buffer() && tensor.offset() == place.offset();
        if (!isThere) {
            Copies.onHost(tensor.buffer() == place.buffer() ? Copies.to(tensor.buffer().device(), tensor) : tensor,
                    place);
        }
    }

    static boolean overlap(Tensor one, Tensor other) {
        return one.buffer() == other.buffer() && one.offset() < other.offset() + other.spec().bytes()
                && other.offset() < one.offset() + one.spec().bytes();
    }

    /** Returns whether a tensor shares memory with one of the given, except that of a name. */
    private static boolean isOfAnother(Tensor tensor, @Nullable String name, Map<String, Tensor> given) {
        for (Map.Entry<String, Tensor> each : given.entrySet()) {
            if (!each.getKey().equals(name) && overlap(each.getValue(), tensor)) {
                return true;
            }
        }
        return false;
    }
}
