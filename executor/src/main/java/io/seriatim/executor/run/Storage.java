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
import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The memory of one run of a plan: an arena for each place, the tensors in it, and the tensors of values that lie
 * elsewhere. Later runs use it again. What is fed, what lies in scopes, and what is handed out afterwards is bound in
 * each run, and arguments that view it are replaced only if it is another tensor than in the last run.
 *
 * <p>
 * Of one run at a time, whose threads work on different tasks.
 */
final class Storage {
    private final CompiledPlan plan;
    private final ValueTable values;
    private final Options options;
    private final MemoryRules rules;
    private final Map<Place, Buffer> arenas = new HashMap<>();
    /** Memory that comes back when the frame is closed. */
    private final List<Tensor> owned = new ArrayList<>();
    /** What is fed in the present run and cannot be used as it is. */
    private final List<Integer> copied = new ArrayList<>();
    /** By value, what it is at the start of every run; null if only the run knows. */
    private final @Nullable Object[] initial;
    /** By value, what it is now. */
    private final @Nullable Object[] present;
    /** By memory, the tensor that arguments view. */
    private final @Nullable Tensor[] bound;
    /** By memory, the arguments that view it. */
    private final List<@Nullable List<View>> views;
    /** By memory that outlives the run, whether the scope has no tensor for it that fits. */
    private final boolean[] isAbsent;
    /** By memory, how many of its last users have not ended. */
    private final AtomicIntegerArray uses;

    /** An argument that is a view of memory which is bound in each run. */
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    private record View(@Nullable Tensor[] arguments, int index, Arg arg) {
    }

    Storage(CompiledPlan plan, Options options) {
        this.plan = plan;
        this.values = plan.values();
        this.options = options;
        int n = values.size();
        this.initial = new Object[n];
        this.bound = new Tensor[n];
        this.isAbsent = new boolean[n];
        this.views = new ArrayList<>(Collections.nCopies(n, null));
        this.uses = new AtomicIntegerArray(plan.releases().counts());
        plan.memory().arenas().forEach((place, bytes) -> arenas.put(place,
                own(() -> Tensor.allocate(device(place), TensorSpec.of(DType.UINT8, bytes))).buffer()
                        .label("arena of a plan")));
        boolean[] hasPlace = new boolean[n];
        for (int i = 0; i < n; i++) {
            initial[i] = initially(i);
            hasPlace[i] = initial[i] != null;
        }
        this.present = initial.clone();
        this.rules = MemoryRules.of(plan, hasPlace);
    }

    /** Memory that comes back when the storage is closed, or when the memory of something else cannot be had. */
    Tensor own(Supplier<Tensor> allocation) {
        try {
            Tensor tensor = allocation.get();
            // What the memory was before is over: this thread has seen that, those of the runs have not.
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

    Buffer arena(Place place) {
        return Objects.requireNonNull(arenas.get(place));
    }

    MemoryRules rules() {
        return rules;
    }

    /** Sets an argument that is a value, now or whenever the value gets a tensor. */
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

    /** Binds what a run is given. */
    void begin(RunContext run) {
        for (int value : rules.changing()) {
            present[value] = initial[value];
        }
        int[] counts = plan.releases().counts();
        for (int memory : rules.released()) {
            uses.setPlain(memory, counts[memory]);
        }
        int[] given = plan.accesses().externals();
        for (int i = 0; i < given.length; i++) {
            if (!values.isPart(given[i])) {
                bindExternal(given[i], run, run.externals()[i]);
            }
        }
        for (int i = 0; i < plan.storages().size(); i++) {
            bind(plan.storages().get(i), Sharing.memory(plan.sharing().groups().get(i), run.bindings()));
        }
        for (int value : rules.outliving()) {
            bindExternal(value, run, run.bindings().find(values.name(value)));
        }
        change();
    }

    /** Counts a change of all that the run writes, whatever becomes of the run: other runs begin after it. */
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
            isAbsent[value] = values.origin(value) == ValueNumbering.Origin.COMPUTED;
            present[value] = isAbsent[value] ? null : there;
            return;
        }
        Tensor use = tensor;
        if (!tensor.spec().equals(spec)) {
            if (values.origin(value) == ValueNumbering.Origin.COMPUTED) {
                // The run gives the variable another shape, with its first complete value.
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

    /** Gives a memory its tensor, and all values and arguments that are views of it. */
    void bind(int memory, Tensor tensor) {
        present[memory] = tensor;
        for (int other : rules.sharing()[memory]) {
            present[other] = values.isPart(other) ? part(tensor, other) : tensor;
        }
        if (bound[memory] != tensor) {
            bound[memory] = tensor;
            List<View> list = views.get(memory);
            if (list != null) {
                // Others may keep what was made of a variable of the scope: changes of it are counted.
                Tensor there = values.isInScope(memory) ? tensor.declared() : tensor;
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

    /** What a value is now. */
    @Nullable
    Object get(int value) {
        return present[value];
    }

    void set(int value, @Nullable Object now) {
        present[value] = now;
    }

    /** Whether a tensor lies where later tasks or runs will write. */
    boolean isInArena(Tensor tensor) {
        return arenas.containsValue(tensor.buffer());
    }

    /** Whether several values are names of its memory. */
    boolean isShared(int value) {
        return values.isPart(value) || values.hasParts(values.memory(value));
    }

    /** Gives a task's results memory, if they have none. */
    void allocate(int task) {
        for (int memory : rules.begun()[task]) {
            if (!values.isPersistable(memory) || isAbsent[memory]) {
                bind(memory, Tensor.allocate(device(place(memory)), Objects.requireNonNull(values.spec(memory))));
            }
        }
    }

    /**
     * As for a task of the host; but what lies on the stream's device is the stream's, which orders it with what the
     * memory was before, and has it back as soon as it has been told of the last use.
     */
    void allocate(int task, Stream stream) {
        for (int memory : rules.begun()[task]) {
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

    /** Sets what outlives the run when a task has completed it. */
    void handOver(int task, RunContext run) {
        for (int value : rules.aliased()[task]) {
            run.bindings().alias(values.name(value), (Tensor) Objects.requireNonNull(present[value]));
        }
        for (int memory : rules.begun()[task]) {
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
        if (rules.isClosable()[memory] && value instanceof Tensor tensor && tensor.buffer().isOpen()) {
            tensor.close();
        }
    }

    /**
     * Ends a run, whether it has failed or not: what no one has taken is released.
     *
     * @param usedDevices
     *            whether devices have worked on the memory, whose work is over
     */
    void end(boolean usedDevices) {
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
    }

    /** Whichever thread uses this memory next, all that was done with it is over. */
    private void settle() {
        // Arenas, constants, and the keys of random numbers, which the next run overwrites, perhaps on another thread.
        owned.forEach(tensor -> tensor.buffer().settle());
        for (Object value : present) {
            if (value instanceof Tensor tensor) {
                tensor.buffer().settle();
            }
        }
    }

    /** What is wanted of a run; it belongs to the caller. Null if nothing has computed it. */
    @Nullable
    Object take(int wanted) {
        int value = values.result(wanted);
        Object there = present[value];
        int memory = values.memory(value);
        boolean own = !isShared(value) && values.origin(memory) == ValueNumbering.Origin.COMPUTED
                && !values.isPersistable(memory)
                && values.spec(value) != null
                && initial[memory] == null;
        if (own && there != null) {
            bound[memory] = null;
            return there;
        }
        return there instanceof Tensor tensor ? Copies.to(options.devices().host(), tensor) : there;
    }

    /** What is wanted of an inner block, for the variables around it: memory of its own, or what it was given. */
    @Nullable
    Object share(int wanted) {
        int memory = values.memory(wanted);
        if (isShared(wanted)) {
            return present[values.result(wanted)];
        }
        boolean given = values.origin(memory) != ValueNumbering.Origin.COMPUTED
                || (values.spec(wanted) == null && !(present[wanted] instanceof Tensor tensor && isInArena(tensor)));
        return given ? present[values.result(wanted)] : take(wanted);
    }

    /** Gives the arenas' memory back. */
    void close() {
        owned.forEach(Tensor::close);
    }
}
