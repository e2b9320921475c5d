package io.seriatim.executor.run;

import io.seriatim.device.Buffer;
import io.seriatim.device.Device;
import io.seriatim.device.DeviceMemoryException;
import io.seriatim.device.Place;
import io.seriatim.device.Stream;
import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.Copies;
import io.seriatim.executor.ir.Options;
import io.seriatim.executor.ir.ReleaseMode;
import io.seriatim.executor.ir.Sharing;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The memory of one run of a plan: an arena for each place ({@link Workspace}), the tensors in it, and the tensors of
 * values outside of arenas. Later runs reuse it. Fed values, variables of scopes and results are bound in each run.
 * Arguments that view them are replaced only if the tensor differs from that of the previous run.
 *
 * <p>
 * One run at a time uses a storage; its threads work on different tasks.
 */
final class Storage {
    private final CompiledPlan plan;
    private final ValueTable values;
    private final Options options;
    private final MemoryRules rules;
    private final Map<Place, Buffer> arenas;
    /** Memory that is freed when the frame is closed. */
    private final List<Tensor> owned = new ArrayList<>();
    /** The feeds of the current run that had to be copied. */
    private final List<Integer> copied = new ArrayList<>();
    /** By value, its tensor at the start of every run; null if it differs between runs. */
    private final @Nullable Object[] initial;
    /** By value, its current tensor or other content. */
    private final @Nullable Object[] present;
    /** By memory, the tensor that arguments view. */
    private final @Nullable Tensor[] bound;
    /** By memory, the arguments that view it. */
    private final List<@Nullable List<View>> views;
    private final CarriedMemory carried;
    private final MovedResults moved;
    private final ExposedMemory exposed;
    private int @Nullable [] transients;
    private int @Nullable [] large;
    /** By external value, whether it may stay bound between iterations: nothing but the enclosing block changes it. */
    private final boolean[] isBindable;
    /** By external value, the tensor that is still bound from the iteration before. */
    private final @Nullable Object[] stillBound;
    /** The values that a run computes, whose tensors differ from run to run. */
    private final int[] computed;
    /** By memory that outlives the run, whether the scope has no tensor of the required type and shape for it. */
    private final boolean[] isAbsent;
    /** By memory, the number of its last users that have not ended. */
    private final AtomicIntegerArray uses;

    /** An argument that is a view of memory that is bound in each run. */
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    private record View(@Nullable Tensor[] arguments, int index, Arg arg) {
    }

    /**
     * Creates the storage of a plan.
     *
     * @param arenas
     *            for each place of which the plan needs memory, an arena that is large enough; not closed by the
     *            storage
     */
    Storage(CompiledPlan plan, Options options, Map<Place, Buffer> arenas, MovedResults moved) {
        this.plan = plan;
        this.values = plan.values();
        this.options = options;
        int n = values.size();
        this.initial = new Object[n];
        this.bound = new Tensor[n];
        this.isAbsent = new boolean[n];
        this.views = new ArrayList<>(Collections.nCopies(n, null));
        this.uses = new AtomicIntegerArray(plan.releases().counts());
        this.arenas = Map.copyOf(arenas);
        boolean[] hasPlace = new boolean[n];
        for (int i = 0; i < n; i++) {
            initial[i] = initially(i);
            hasPlace[i] = initial[i] != null;
        }
        this.present = initial.clone();
        this.rules = MemoryRules.of(plan, hasPlace);
        this.exposed = new ExposedMemory(plan);
        this.carried = CarriedMemory.of(plan, rules, moved, exposed);
        this.moved = moved;
        int[] externals = plan.accesses().externals();
        boolean[] isKept = new boolean[n];
        this.isBindable = bindable();
        this.stillBound = new Object[externals.length];
        for (int i = 0; i < externals.length; i++) {
            isKept[externals[i]] = isBindable[i];
        }
        this.computed = IntStream.of(rules.changing()).filter(value -> !isKept[value]).toArray();
    }

    private boolean[] bindable() {
        int[] externals = plan.accesses().externals();
        boolean[] isChanged = new boolean[values.size()];
        for (int memory : rules.released()) {
            isChanged[memory] = true;
        }
        for (Task task : plan.tasks()) {
            for (int value : task.writes()) {
                isChanged[value] = true;
                isChanged[values.memory(value)] = true;
            }
        }
        boolean[] isBindable = new boolean[externals.length];
        for (int i = 0; i < externals.length; i++) {
            int value = externals[i];
            isBindable[i] = values.origin(value) == ValueNumbering.Origin.OUTSIDE && values.memory(value) == value
                    && rules.sharing()[value].length == 0 && !isChanged[value] && !values.hasParts(value);
        }
        return isBindable;
    }

    /** Allocates memory that is freed when the storage is closed, or when a later allocation fails. */
    Tensor own(Supplier<Tensor> allocation) {
        try {
            Tensor tensor = allocation.get();
            // All earlier uses of the memory have ended, as this thread has observed; threads of runs need not observe
            // it again.
            tensor.buffer().settle();
            owned.add(tensor);
            return tensor;
        } catch (DeviceMemoryException e) {
            owned.forEach(Tensor::close);
            throw e;
        }
    }

    private @Nullable Object initially(int value) {
        TensorSpec spec = values.spec(value);
        long offset = plan.memory().offsets()[value];
        if (values.constant(value) != null) {
            return values.constant(value);
        }
        return offset < 0 || spec == null
                ? null
                : new Tensor(Objects.requireNonNull(arenas.get(place(value))), offset, spec);
    }

    private Place place(int value) {
        Place place = values.place(values.memory(value));
        return place == null ? Place.CPU : place;
    }

    Device device(Place place) {
        return options.devices().get(place);
    }

    /** Returns the limit of the memory of the host, in bytes. */
    long hostLimit() {
        return options.devices().host().memory().limit();
    }

    Buffer arena(Place place) {
        return Objects.requireNonNull(arenas.get(place));
    }

    MemoryRules rules() {
        return rules;
    }

    MovedResults moved() {
        return moved;
    }

    /** Sets an argument that is a value: now, or each time the value is bound to a tensor. */
    void view(Arg arg, @Nullable Tensor[] arguments, int index) {
        if (initial[arg.value()] instanceof Tensor tensor) {
            arguments[index] = view(tensor, arg);
        } else {
            int memory = values.memory(arg.value());
            List<View> list = views.get(memory);
            if (list == null) {
                list = new ArrayList<>(2);
                views.set(memory, list);
            }
            list.add(new View(arguments, index, arg));
        }
    }

    static Tensor view(Tensor base, Arg arg) {
        return arg.offset() == 0 && arg.spec().equals(base.spec())
                ? base
                : new Tensor(base.buffer(), base.offset() + arg.offset(), arg.spec());
    }

    /** Binds the external values of a run. */
    @SuppressWarnings("ReferenceEquality") // The tensor itself, not an equal one.
    void begin(RunContext run) {
        int[] counts = plan.releases().counts();
        exposed.begin();
        for (int memory : rules.released()) {
            uses.setPlain(memory, counts[memory]);
        }
        int[] given = plan.accesses().externals();
        for (int i = 0; i < given.length; i++) {
            Object there = run.externals()[i];
            if ((there == null || stillBound[i] != there) && !values.isPart(given[i])) {
                bindExternal(given[i], run, there);
                stillBound[i] = isBindable[i] && present[given[i]] == there ? there : null;
            }
        }
        for (int i = 0; i < plan.storages().size(); i++) {
            bind(plan.storages().get(i), Sharing.memory(plan.sharing().groups().get(i), run.bindings()));
        }
        for (int memory : rules.early()) {
            bind(memory, Tensor.allocate(device(place(memory)), Objects.requireNonNull(values.spec(memory))));
        }
        for (int value : rules.outliving()) {
            bindExternal(value, run, run.bindings().find(values.name(value)));
        }
        change();
        carried.begin(run);
    }

    /** Increments the change counts of all memory that the run writes, even if the run fails later. */
    void change() {
        for (int memory : rules.changed()) {
            if (present[memory] instanceof Tensor tensor) {
                tensor.buffer().changed();
            }
        }
    }

    private void bindExternal(int value, RunContext run, @Nullable Object there) {
        boolean fed = values.origin(value) == ValueNumbering.Origin.FED;
        TensorSpec spec = values.spec(value);
        if (!(there instanceof Tensor tensor) || spec == null) {
            isAbsent[value] = values.origin(value) == ValueNumbering.Origin.COMPUTED || there == null;
            present[value] = isAbsent[value] ? null : there;
            return;
        }
        Tensor use = tensor;
        if (!tensor.spec().equals(spec)) {
            if (values.origin(value) == ValueNumbering.Origin.COMPUTED) {
                // The run gives the variable another shape when its first value is complete.
                isAbsent[value] = true;
                present[value] = null;
                return;
            }
            use = Copies.to(device(place(value)), tensor);
        } else if (!tensor.place().equals(place(value)) || (fed && rules.isFedAndWritten()[value])) {
            use = Copies.to(device(place(value)), tensor);
        }
        if (use != tensor && fed) {
            copied.add(value);
        } else if (use != tensor) {
            run.bindings().set(values.name(value), use);
        }
        isAbsent[value] = false;
        bind(value, use);
    }

    /** Binds a memory to a tensor, and updates all values and arguments that are views of it. */
    void bind(int memory, Tensor tensor) {
        present[memory] = tensor;
        for (int other : rules.sharing()[memory]) {
            present[other] = values.isPart(other) ? part(tensor, other) : tensor;
        }
        if (bound[memory] != tensor) {
            bound[memory] = tensor;
            List<View> list = views.get(memory);
            if (list != null) {
                // Other plans may have cached packed copies of a variable of the scope, so its changes are declared and
                // counted.
                Tensor there = values.isInScope(memory) && tensor.buffer().changes() != Buffer.UNKNOWN
                        ? tensor.declared()
                        : tensor;
                for (View view : list) {
                    view.arguments()[view.index()] = view(there, view.arg());
                }
            }
        }
    }

    private Tensor part(Tensor storage, int value) {
        return new Tensor(storage.buffer(), storage.offset() + values.from(value),
                Objects.requireNonNull(values.spec(value)));
    }

    /** Returns the current content of a value. */
    @Nullable
    Object get(int value) {
        return present[value];
    }

    void set(int value, @Nullable Object now) {
        present[value] = now;
    }

    /** Returns whether a tensor is in an arena, where later tasks or runs overwrite it. */
    boolean isInArena(Tensor tensor) {
        return arenas.containsValue(tensor.buffer());
    }

    /** Returns whether a value shares memory with other variables. */
    boolean isShared(int value) {
        return values.isPart(value) || values.hasParts(values.memory(value));
    }

    /** Allocates memory for the results of a task that have none. */
    void allocate(int task) {
        for (int memory : rules.allocations()[task]) {
            if (!values.isPersistable(memory) || isAbsent[memory]) {
                Tensor spare = carried.take(memory);
                bind(memory, spare != null
                        ? spare
                        : Tensor.allocate(device(place(memory)), Objects.requireNonNull(values.spec(memory))));
            }
        }
    }

    /**
     * Allocates memory for the results of a task on a device. Memory of the stream's device is allocated on the stream,
     * which orders it after earlier uses of the same memory, and may be reused as soon as the last use has been
     * launched on the stream.
     */
    void allocate(int task, Stream stream) {
        for (int memory : rules.allocations()[task]) {
            if (!values.isPersistable(memory) || isAbsent[memory]) {
                TensorSpec spec = Objects.requireNonNull(values.spec(memory));
                Device device = device(place(memory));
                bind(memory,
                        device.equals(stream.device())
                                ? new Tensor(device.allocate(spec.bytes(), stream), 0, spec)
                                : Tensor.allocate(device, spec));
            }
        }
    }

    /** Stores the variables that outlive the run and that a task has completed. */
    void handOver(int task, RunContext run) {
        for (int value : rules.aliased()[task]) {
            run.bindings().alias(values.name(value), (Tensor) Objects.requireNonNull(present[value]));
        }
        for (int memory : rules.allocations()[task]) {
            if (isAbsent[memory] && values.isPersistable(memory)) {
                isAbsent[memory] = false;
                run.bindings().set(values.name(memory), Objects.requireNonNull(present[memory]));
            }
        }
    }

    /** Releases memory of which a task was the last user. */
    void release(int task, @Nullable Stream stream) {
        for (int memory : plan.releases().after()[task]) {
            if (uses.decrementAndGet(memory) == 0 && options.releaseMode() != ReleaseMode.AT_END) {
                if (stream != null && options.releaseMode() == ReleaseMode.AFTER_EVENT) {
                    Object value = present[memory];
                    stream.mark().onDone(_ -> close(memory, value));
                } else {
                    close(memory, present[memory]);
                }
                forget(memory);
            }
        }
    }

    private void forget(int memory) {
        present[memory] = null;
        bound[memory] = null;
        for (int other : rules.sharing()[memory]) {
            present[other] = null;
        }
    }

    private void close(int memory, @Nullable Object value) {
        if (moved.isMoved(memory)) {
            return;
        }
        if (rules.isClosable()[memory]) {
            close(value);
        } else if (exposed.isFree(memory)) {
            // A loop that has run gives its result in other memory than that of its operand.
            for (int other : rules.sharing()[memory]) {
                close(present[other]);
            }
            close(value);
        }
    }

    private static void close(@Nullable Object value) {
        if (value instanceof Tensor tensor && tensor.buffer().isOpen()) {
            tensor.close();
        }
    }

    ExposedMemory exposed() {
        return exposed;
    }

    /**
     * Ends a run, also if it has failed: releases all memory that was not taken as a result.
     *
     * @param usedDevices
     *            whether devices have used the memory; their work has ended
     */
    void end(boolean usedDevices) {
        finish(usedDevices);
        letGo();
    }

    /** Ends a run as {@link #end} does; external values stay bound for the next iteration. */
    void endIteration(boolean usedDevices) {
        finish(usedDevices);
        for (int value : computed) {
            present[value] = initial[value];
        }
        for (int memory : large()) {
            unbind(memory);
        }
    }

    /** Ends the loop of the last iteration. */
    void endLoop() {
        letGo();
    }

    private void finish(boolean usedDevices) {
        for (int memory : rules.released()) {
            if (present[memory] != null) {
                close(memory, present[memory]);
                forget(memory);
            }
        }
        if (usedDevices) {
            settle();
        }
        for (int memory : copied) {
            close(memory, present[memory]);
            forget(memory);
        }
        copied.clear();
        carried.end();
    }

    /**
     * Drops the references to what was fed and what the run has computed for its caller. The frame may be idle for a
     * long time, since other shapes have frames of their own.
     */
    private void letGo() {
        Arrays.fill(stillBound, null);
        for (int value : rules.changing()) {
            present[value] = initial[value];
        }
        for (int memory : transients()) {
            unbind(memory);
        }
    }

    private void unbind(int memory) {
        bound[memory] = null;
        for (View view : Objects.requireNonNull(views.get(memory))) {
            view.arguments()[view.index()] = null;
        }
    }

    /** Returns the computed memory to which no argument refers between iterations. */
    private int[] large() {
        int[] known = large;
        if (known == null) {
            boolean[] isComputed = new boolean[present.length];
            for (int value : computed) {
                isComputed[value] = true;
            }
            known = IntStream.of(transients()).filter(memory -> {
                TensorSpec spec = values.spec(memory);
                return isComputed[memory] && (spec == null || spec.bytes() > CarriedMemory.MOST_BYTES);
            }).toArray();
            large = known;
        }
        return known;
    }

    /** Returns the memory with arguments that is another one in every run. */
    private int[] transients() {
        int[] known = transients;
        if (known == null) {
            known = IntStream.range(0, views.size()).filter(memory -> views.get(memory) != null
                    && !values.isPersistable(memory) && initial[memory] == null).toArray();
            transients = known;
        }
        return known;
    }

    /** Marks all earlier uses of the memory as ended for all threads. */
    private void settle() {
        // Arenas, constants and random keys, which the next run overwrites, possibly on another thread.
        arenas.values().forEach(Buffer::settle);
        owned.forEach(tensor -> tensor.buffer().settle());
        for (Object value : present) {
            if (value instanceof Tensor tensor) {
                tensor.buffer().settle();
            }
        }
    }

    /** Returns a result of the run, which belongs to the caller; null if no task has computed it. */
    @Nullable
    Object take(int wanted) {
        int value = values.result(wanted);
        Object there = present[value];
        if (there != null && isOwn(wanted)) {
            bound[values.memory(value)] = null;
            return there;
        }
        return there instanceof Tensor tensor ? Copies.to(options.devices().host(), tensor) : there;
    }

    /** Returns whether tasks compute a result in memory outside of the arena that no variable has. */
    boolean isOwn(int wanted) {
        int value = values.result(wanted);
        int memory = values.memory(value);
        return !isShared(value) && values.origin(memory) == ValueNumbering.Origin.COMPUTED
                && !values.isPersistable(memory) && values.spec(value) != null && initial[memory] == null;
    }

    /**
     * Returns a result of a nested block for the enclosing block: separate memory, or the memory that it was given.
     *
     * @param isNew
     *            whether the interpreter has given it memory that nothing else has
     */
    @Nullable
    Object share(int wanted, boolean isNew) {
        Object result = shared(wanted);
        if (result instanceof Tensor tensor) {
            carried.gave(wanted, tensor, isNew);
        }
        return result;
    }

    private @Nullable Object shared(int wanted) {
        int memory = values.memory(wanted);
        if (isShared(wanted)) {
            return present[values.result(wanted)];
        }
        // What was fed to the rest of a block is this run's copy if tasks write it.
        boolean given = values.origin(memory) == ValueNumbering.Origin.OUTSIDE
                || (values.spec(wanted) == null && !(present[wanted] instanceof Tensor tensor && isInArena(tensor)));
        return given ? present[values.result(wanted)] : take(wanted);
    }

    /** Frees the memory outside of the arenas. */
    void close() {
        owned.forEach(Tensor::close);
        carried.close();
    }
}
