package io.seriatim.executor.run;

import io.seriatim.device.Buffer;
import io.seriatim.device.Device;
import io.seriatim.device.DeviceMemoryException;
import io.seriatim.device.Place;
import io.seriatim.device.Stream;
import io.seriatim.executor.ir.Access;
import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.Bindings;
import io.seriatim.executor.ir.Copies;
import io.seriatim.executor.ir.Options;
import io.seriatim.executor.ir.ReleaseMode;
import io.seriatim.executor.ir.Sharing;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.executor.pass.Layouts;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.executor.schedule.Releases;
import io.seriatim.executor.trace.RunLog;
import io.seriatim.graph.program.Aliases;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.PreparedKernels;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The memory of one run of a specialisation: an arena for each place, the tensors in it, and the arguments of every
 * kernel. Later runs use it again; only what is fed, what lies in scopes, and what is handed out afterwards is bound
 * anew, and only if it is another tensor than the last time. Of one run at a time, whose threads work on different
 * tasks.
 */
public final class Frame implements AutoCloseable {
    private static final int[] NONE = {};

    private final CompiledPlan plan;
    private final ValueTable values;
    private final Options options;
    private final Map<Place, Buffer> arenas = new HashMap<>();
    private final List<Tensor> owned = new ArrayList<>();
    /** What is fed in the present run and cannot be used as it is. */
    private final List<Integer> copied = new ArrayList<>();
    private final @Nullable Object[] initial;
    private final @Nullable Object[] present;
    private final @Nullable Tensor[] bound;
    private final List<@Nullable List<Patch>> patches;
    private final int[][] sharing;
    private final Work[][] works;
    private final List<RandomKey> keys = new ArrayList<>();
    private final int[] outliving;
    private final int[] changing;
    private final int[] released;
    private final boolean[] isClosable;
    private final int[][] begun;
    private final int[][] aliased;
    private final boolean[] isPlain;
    private final Packing[] packings;
    private final int[] changed;
    private final boolean[] isAbsent;
    private final boolean[] isFedAndWritten;
    private final AtomicIntegerArray uses;
    private final Interpretation interpretation;
    private final @Nullable DeviceQueues queues;
    private PreparedKernels.@Nullable Hold kernels;
    private @Nullable RunContext context;
    private @Nullable RunLog log;
    private ParallelRunLoop.@Nullable Run run;

    /** An argument that is bound when its memory is known. */
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    private record Patch(@Nullable Tensor[] arguments, int index, Arg arg) {
    }

    /** Where the key of an operation's random numbers lies, on the host and where it is read. */
    record RandomKey(Access access, Tensor host, Tensor there) {
    }

    public Frame(CompiledPlan plan, Options options, StreamPool streams) {
        this.plan = plan;
        this.values = plan.values();
        this.options = options;
        int n = values.size();
        this.initial = new Object[n];
        this.present = new Object[n];
        this.bound = new Tensor[n];
        this.patches = new ArrayList<>(java.util.Collections.nCopies(n, null));
        this.sharing = sharing();
        plan.memory().arenas().forEach((place, bytes) -> arenas.put(place,
                own(() -> Tensor.allocate(device(place), TensorSpec.of(DType.UINT8, bytes))).buffer()
                        .label("arena of a plan")));
        for (int i = 0; i < n; i++) {
            initial[i] = initially(i);
        }
        this.works = new Work[plan.tasks().size()][];
        for (int i = 0; i < works.length; i++) {
            works[i] = plan.tasks().get(i) instanceof Task.Compute compute ? works(i, compute) : new Work[0];
        }
        this.packings = Packing.of(plan, works);
        this.changed = Layouts.written(plan.tasks(), values);
        System.arraycopy(initial, 0, present, 0, n);
        this.isAbsent = new boolean[n];
        this.isFedAndWritten = fedAndWritten();
        this.outliving = IntStream.range(0, n)
                .filter(i -> values.memory(i) == i && values.origin(i) == ValueNumbering.Origin.COMPUTED
                        && values.isPersistable(i))
                .toArray();
        boolean[] interpreted = interpreted();
        this.changing = IntStream.range(0, n).filter(i -> initial[i] == null || interpreted[i]).toArray();
        this.released = Arrays.stream(plan.releases().after()).flatMapToInt(Arrays::stream).distinct().toArray();
        this.isClosable = Releases.closable(plan.tasks(), values);
        this.begun = begun();
        this.aliased = aliased();
        this.uses = new AtomicIntegerArray(plan.releases().counts());
        this.interpretation = new Interpretation(plan, this);
        this.queues = plan.streams().isHostOnly() ? null : new DeviceQueues(plan, this, streams);
        this.isPlain = new boolean[works.length];
        for (int i = 0; i < isPlain.length; i++) {
            isPlain[i] = plan.tasks().get(i) instanceof Task.Compute && begun[i].length == 0 && aliased[i].length == 0
                    && plan.releases().after()[i].length == 0
                    && !options.nanCheck() && queues == null;
        }
    }

    /** Memory that comes back when the frame is closed, or cannot be made. */
    private Tensor own(Supplier<Tensor> allocation) {
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

    private int[][] sharing() {
        int[] counts = new int[values.size()];
        for (int i = 0; i < counts.length; i++) {
            counts[values.memory(i)] += values.memory(i) == i ? 0 : 1;
        }
        int[][] all = new int[counts.length][];
        Arrays.setAll(all, i -> counts[i] == 0 ? NONE : new int[counts[i]]);
        for (int i = counts.length - 1; i >= 0; i--) {
            int memory = values.memory(i);
            if (memory != i) {
                all[memory][--counts[memory]] = i;
            }
        }
        return all;
    }

    /** What a value is at the start of every run; null if only the run knows. */
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

    private boolean[] interpreted() {
        boolean[] written = new boolean[values.size()];
        for (Task task : plan.tasks()) {
            if (task instanceof Task.Interpreted) {
                for (int value : task.writes()) {
                    written[value] = true;
                }
            }
        }
        return written;
    }

    private boolean[] fedAndWritten() {
        boolean[] written = new boolean[values.size()];
        for (Task task : plan.tasks()) {
            for (int value : task.writes()) {
                int memory = values.memory(value);
                written[memory] |= values.origin(memory) == ValueNumbering.Origin.FED;
            }
        }
        return written;
    }

    /** For each task the memory of its own that it begins. */
    private int[][] begun() {
        int[][] begun = new int[plan.tasks().size()][];
        boolean[] seen = new boolean[values.size()];
        for (int i = 0; i < begun.length; i++) {
            List<Integer> list = new ArrayList<>();
            if (!(plan.tasks().get(i) instanceof Task.Interpreted)) {
                for (int value : plan.tasks().get(i).writes()) {
                    int memory = values.memory(value);
                    boolean own = values.origin(memory) == ValueNumbering.Origin.COMPUTED && initial[memory] == null;
                    if (own && !seen[memory]) {
                        seen[memory] = true;
                        list.add(memory);
                    }
                }
            }
            begun[i] = list.stream().mapToInt(Integer::intValue).toArray();
        }
        return begun;
    }

    /** For each task the variables that outlive the run and become names of memory that others share. */
    private int[][] aliased() {
        int[][] aliased = new int[plan.tasks().size()][];
        for (int i = 0; i < aliased.length; i++) {
            aliased[i] = values.hasParts()
                    ? plan.tasks().get(i).operations().stream()
                            .flatMapToInt(access -> Aliases.made(access.op()).stream().mapToInt(access::written))
                            .filter(value -> values.isPart(value) && values.isPersistable(value)).toArray()
                    : NONE;
        }
        return aliased;
    }

    private Place place(int value) {
        Place place = values.place(values.memory(value));
        return place == null ? Place.CPU : place;
    }

    private Device device(Place place) {
        return options.devices().get(place);
    }

    private Work[] works(int index, Task.Compute task) {
        Work[] all = new Work[task.stages().size()];
        for (int i = 0; i < all.length; i++) {
            all[i] = new Work(task.stages().get(i));
            List<@Nullable Arg> args = task.stages().get(i).args();
            for (int j = 0; j < args.size(); j++) {
                Arg arg = args.get(j);
                if (arg != null && !plan.isPacked(index, i, j)) {
                    resolve(index, task, arg, all[i].arguments(), j);
                }
            }
        }
        return all;
    }

    private void resolve(int index, Task.Compute task, Arg arg, @Nullable Tensor[] arguments, int at) {
        switch (arg.source()) {
            case Arg.Value(int number) -> {
                if (initial[number] instanceof Tensor tensor) {
                    arguments[at] = view(tensor, arg);
                } else {
                    int memory = values.memory(number);
                    List<Patch> list = patches.get(memory);
                    if (list == null) {
                        list = new ArrayList<>(2);
                        patches.set(memory, list);
                    }
                    list.add(new Patch(arguments, at, arg));
                }
            }
            case Arg.Temporary(int number) ->
                arguments[at] = new Tensor(Objects.requireNonNull(arenas.get(task.place())),
                        plan.memory().temporaries()[index][number] + arg.offset(), arg.spec());
            case Arg.Constant(Tensor tensor) -> {
                Tensor there = task.place().isHost() ? tensor : own(() -> Copies.to(device(task.place()), tensor));
                arguments[at] = new Tensor(there.buffer(), (task.place().isHost() ? 0 : there.offset()) + arg.offset(),
                        arg.spec());
            }
            case Arg.Key(Access access) -> arguments[at] = key(access, task.place());
        }
    }

    private Tensor key(Access access, Place place) {
        for (RandomKey key : keys) {
            if (key.access() == access) {
                return key.there();
            }
        }
        TensorSpec spec = TensorSpec.of(DType.INT64, 2);
        Tensor host = own(() -> Tensor.allocate(device(Place.CPU), spec));
        keys.add(new RandomKey(access, host, place.isHost() ? host : own(() -> Tensor.allocate(device(place), spec))));
        return keys.getLast().there();
    }

    static Tensor view(Tensor base, Arg arg) {
        return arg.offset() == 0 && arg.spec().equals(base.spec())
                ? base
                : new Tensor(base.buffer(), base.offset() + arg.offset(), arg.spec());
    }

    /** Binds what a run is given. */
    public void begin(RunContext run, @Nullable RunLog recorded) {
        context = run;
        log = recorded;
        for (int value : changing) {
            present[value] = initial[value];
        }
        int[] counts = plan.releases().counts();
        for (int memory : released) {
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
        for (int value : outliving) {
            bindExternal(value, run, run.bindings().find(values.name(value)));
        }
        change();
        pack(run.bindings());
        for (RandomKey key : keys) {
            long[] numbers = run.sessions().get().randomKey(key.access().index()).toLongArray();
            Copies.store(key.host(), numbers);
        }
        if (queues != null) {
            queues.begin(keys);
        }
    }

    /** What a run writes has changed, whatever becomes of the run: other runs begin after it. */
    public void change() {
        for (int memory : changed) {
            if (present[memory] instanceof Tensor tensor) {
                tensor.buffer().changed();
            }
        }
    }

    private void pack(Bindings bindings) {
        for (Packing packing : packings) {
            int value = packing.value();
            packing.bind(values.name(value), present[value] instanceof Tensor tensor ? tensor : null, bindings);
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
        } else if (!tensor.place().equals(place(value)) || (fed && isFedAndWritten[value])) {
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

    /** Memory gets a tensor. */
    void bind(int memory, Tensor tensor) {
        present[memory] = tensor;
        for (int other : sharing[memory]) {
            present[other] = values.isPart(other) ? part(tensor, other) : tensor;
        }
        if (bound[memory] != tensor) {
            bound[memory] = tensor;
            List<Patch> list = patches.get(memory);
            if (list != null) {
                Tensor there = isScopes(memory) ? tensor.declared() : tensor;
                for (Patch patch : list) {
                    patch.arguments()[patch.index()] = view(there, patch.arg());
                }
            }
        }
    }

    private Tensor part(Tensor storage, int value) {
        return new Tensor(storage.buffer(), storage.offset() + values.from(value),
                Objects.requireNonNull(values.spec(value)));
    }

    /** Whether others may keep what was made of it: its changes are counted. */
    private boolean isScopes(int memory) {
        return values.isPersistable(memory) || values.origin(memory) == ValueNumbering.Origin.OUTSIDE;
    }

    CompiledPlan plan() {
        return plan;
    }

    /** What several threads keep here from run to run; null if there has been none. */
    ParallelRunLoop.@Nullable Run run() {
        return run;
    }

    void run(ParallelRunLoop.Run kept) {
        run = kept;
    }

    Device host() {
        return options.devices().host();
    }

    public Work[] works(int task) {
        return works[task];
    }

    @Nullable
    Object value(int value) {
        return present[value];
    }

    void value(int value, @Nullable Object now) {
        present[value] = now;
    }

    /** Where this run is recorded; null if it is not. */
    @Nullable
    RunLog log() {
        return log;
    }

    RunContext context() {
        return Objects.requireNonNull(context);
    }

    /** Whether a tensor lies where later tasks or runs will write. */
    boolean isInArena(Tensor tensor) {
        return arenas.containsValue(tensor.buffer());
    }

    boolean isOnDevice(int task) {
        return plan.streams().stream()[task] >= 0;
    }

    DeviceQueues queues() {
        return Objects.requireNonNull(queues);
    }

    /** Carries out a task of the host. */
    public void execute(int task, KernelContext kernels) throws Exception {
        if (isPlain[task]) {
            for (Work work : works[task]) {
                work.run(kernels);
            }
            return;
        }
        if (queues != null) {
            queues.awaitFor(task);
        }
        allocate(task);
        if (plan.tasks().get(task) instanceof Task.Interpreted interpreted) {
            interpretation.run(task, interpreted);
        } else {
            for (Work work : works[task]) {
                if (queues != null) {
                    work.accesses()
                            .forEach(access -> access.buffer().hostCheck(work.stage().name(), access.offset(),
                                    access.bytes(),
                                    access.write()));
                }
                work.run(kernels);
            }
        }
        handOver(task);
        if (options.nanCheck()) {
            requireFinite(task);
        }
        release(task, null);
    }

    /** Gives the task's results memory, if they have none. */
    public void allocate(int task) {
        for (int memory : begun[task]) {
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
        for (int memory : begun[task]) {
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

    /** What outlives the run is set when it is complete. */
    void handOver(int task) {
        for (int value : aliased[task]) {
            context().bindings().alias(values.name(value), (Tensor) Objects.requireNonNull(present[value]));
        }
        for (int memory : begun[task]) {
            if (isAbsent[memory] && values.isPersistable(memory)) {
                isAbsent[memory] = false;
                context().bindings().set(values.name(memory), Objects.requireNonNull(present[memory]));
            }
        }
    }

    /** Lets memory go that no one needs any more. */
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
        for (int other : sharing[memory]) {
            present[other] = null;
        }
    }

    private void close(int memory, @Nullable Object value) {
        if (isClosable[memory] && value instanceof Tensor tensor && tensor.buffer().isOpen()) {
            tensor.close();
        }
    }

    /** Whether every operation's results must be finite. */
    boolean isChecked() {
        return options.nanCheck();
    }

    void requireFinite(int task) {
        for (int value : plan.tasks().get(task).writes()) {
            if (present[value] instanceof Tensor tensor && tensor.dtype().isFloating()) {
                for (double element : Copies.toHost(tensor).toDoubleArray()) {
                    if (Double.isNaN(element) || Double.isInfinite(element)) {
                        throw new IllegalStateException("'" + values.name(value) + "' holds " + element);
                    }
                }
            }
        }
    }

    /** Ends a run, whether it has failed or not: what no one has taken is let go. */
    public void end() {
        for (int memory : released) {
            if (present[memory] != null) {
                close(memory, present[memory]);
                forget(memory);
            }
        }
        if (queues != null) {
            settle();
        }
        for (int memory : copied) {
            close(memory, present[memory]);
            forget(memory);
        }
        copied.clear();
        context = null;
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
    public Object take(int wanted) {
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
    public Object share(int wanted) {
        int memory = values.memory(wanted);
        if (isShared(wanted)) {
            return present[values.result(wanted)];
        }
        boolean given = values.origin(memory) != ValueNumbering.Origin.COMPUTED
                || (values.spec(wanted) == null && !(present[wanted] instanceof Tensor tensor && isInArena(tensor)));
        return given ? present[values.result(wanted)] : take(wanted);
    }

    /** Whether several values are names of its memory. */
    boolean isShared(int value) {
        return values.isPart(value) || values.hasParts(values.memory(value));
    }

    /** Waits for devices, and throws what has failed there. */
    public void drain() {
        if (queues != null) {
            queues.drain();
        }
    }

    /** Keeps the plan's kernels as long as it is there: its plan may be dropped while it is run. */
    public Frame with(PreparedKernels.Hold hold) {
        kernels = hold;
        return this;
    }

    /** The arenas' memory comes back. */
    @Override
    public void close() {
        for (Packing packing : packings) {
            packing.close(values.name(packing.value()));
        }
        if (kernels != null) {
            kernels.close();
        }
        if (queues != null) {
            queues.close();
        }
        owned.forEach(Tensor::close);
    }
}
