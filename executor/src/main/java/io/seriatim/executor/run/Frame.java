package io.seriatim.executor.run;

import io.seriatim.device.Buffer;
import io.seriatim.device.Device;
import io.seriatim.device.Place;
import io.seriatim.executor.ir.Copies;
import io.seriatim.executor.ir.Options;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.executor.trace.RunLog;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.PreparedKernels;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Executes the tasks of one run of a plan, with memory ({@link Storage}) and arguments ({@link Arguments}) that later
 * runs reuse. Run loops decide which thread executes which task, and when. One run at a time uses a frame; its threads
 * work on different tasks.
 */
public final class Frame implements AutoCloseable {
    private final CompiledPlan plan;
    private final Options options;
    private final Storage storage;
    private final Arguments arguments;
    private final Work[][] works;
    /** Whether executing a task only requires calling its kernels. */
    private final boolean[] isPlain;
    private final Interpretation interpretation;
    private final @Nullable DeviceQueues queues;
    private PreparedKernels.@Nullable Hold kernels;
    private @Nullable RunContext context;
    private @Nullable RunLog log;
    private ParallelRunLoop.@Nullable Run run;
    private @Nullable Workspace<CompiledPlan, Frame> own;
    private @Nullable RestOfBlock rest;

    /**
     * Creates the frame of a plan.
     *
     * @param arenas
     *            the memory of the plan's temporaries at each place that needs some
     */
    public Frame(CompiledPlan plan, Options options, StreamPool streams, Map<Place, Buffer> arenas) {
        this(plan, options, streams, arenas, MovedResults.of(plan));
    }

    /** Creates the frame of a plan that moves the given results. */
    Frame(CompiledPlan plan, Options options, StreamPool streams, Map<Place, Buffer> arenas, MovedResults moved) {
        this.plan = plan;
        this.options = options;
        this.storage = new Storage(plan, options, arenas, moved);
        this.arguments = new Arguments(plan, storage);
        this.works = arguments.works();
        this.interpretation = new Interpretation(plan, this, storage, options.threads() == 1);
        this.queues = plan.streams().isHostOnly() ? null : new DeviceQueues(plan, this, storage, streams);
        this.isPlain = new boolean[works.length];
        for (int i = 0; i < isPlain.length; i++) {
            isPlain[i] = plan.tasks().get(i) instanceof Task.Compute && storage.rules().isPlain(i)
                    && plan.releases().after()[i].length == 0
                    && !options.nanCheck() && queues == null;
        }
    }

    /** Returns whether interpreted operations compute attention, which takes the same memory for all sizes. */
    public boolean attends() {
        return interpretation.attends();
    }

    /** Creates the frame of a plan in arenas of its own, which it frees when it is closed. */
    public static Frame alone(CompiledPlan plan, Options options, StreamPool streams) {
        Workspace<CompiledPlan, Frame> own = new Workspace<>(options.devices(), 1, Frame::close);
        Frame frame = own.frame(plan, plan.memory().arenas(), arenas -> new Frame(plan, options, streams, arenas));
        frame.own = own;
        return frame;
    }

    /** Begins a run: binds its external values. */
    public void begin(RunContext given, @Nullable RunLog recorded) {
        context = given;
        log = recorded;
        storage.begin(given);
        arguments.begin(given);
        if (queues != null) {
            queues.begin(arguments.keys());
        }
    }

    /** Increments the change counts of all memory that a run writes, even if the run fails later. */
    public void change() {
        storage.change();
    }

    CompiledPlan plan() {
        return plan;
    }

    /** Returns the state of {@link ParallelRunLoop} that is reused for each run; null before the first. */
    ParallelRunLoop.@Nullable Run run() {
        return run;
    }

    void run(ParallelRunLoop.Run kept) {
        run = kept;
    }

    Device host() {
        return options.devices().host();
    }

    /** Returns the kernels of a task with their arguments. */
    public Work[] works(int task) {
        return works[task];
    }

    /** Returns the current content of a value. */
    @Nullable
    Object value(int value) {
        return storage.get(value);
    }

    /** Returns the log of this run; null if it is not recorded. */
    @Nullable
    RunLog log() {
        return log;
    }

    RunContext context() {
        return Objects.requireNonNull(context);
    }

    boolean isOnDevice(int task) {
        return plan.streams().stream()[task] >= 0;
    }

    DeviceQueues queues() {
        return Objects.requireNonNull(queues);
    }

    /** Executes a task of the host. */
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
        storage.allocate(task);
        if (plan.tasks().get(task) instanceof Task.Interpreted interpreted) {
            interpretation.run(task, interpreted);
        } else if (plan.tasks().get(task) instanceof Task.Rest after) {
            interpretation.run(task, after, Objects.requireNonNull(rest));
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
        storage.release(task, null);
    }

    /** Allocates memory for the results of a task that have none. */
    public void allocate(int task) {
        storage.allocate(task);
    }

    /** Stores the variables that outlive the run and that a task has completed. */
    void handOver(int task) {
        storage.handOver(task, context());
    }

    /** Returns whether the results of every operation must be finite. */
    boolean isChecked() {
        return options.nanCheck();
    }

    void requireFinite(int task) {
        for (int value : plan.tasks().get(task).writes()) {
            if (storage.get(value) instanceof Tensor tensor && tensor.dtype().isDifferentiable()) {
                Tensor host = Copies.toHost(tensor);
                for (double element : (host.dtype().isComplex() ? host.asReal() : host).toDoubleArray()) {
                    if (Double.isNaN(element) || Double.isInfinite(element)) {
                        throw new IllegalStateException("'" + plan.values().name(value) + "' holds " + element);
                    }
                }
            }
        }
    }

    /** Ends a run, also if it has failed: releases all memory that was not taken as a result. */
    public void end() {
        storage.end(queues != null);
        context = null;
    }

    /** Ends a run after which the same loop goes on: external values stay bound until {@link #endLoop}. */
    void endIteration() {
        storage.endIteration(queues != null);
        context = null;
    }

    /** Ends the loop of the last iteration: unbinds its external values. */
    void endLoop() {
        storage.endLoop();
    }

    /** Returns a result of the run, which belongs to the caller; null if no task has computed it. */
    @Nullable
    public Object take(int wanted) {
        Object given = interpretation.take(wanted);
        return given != null ? given : storage.take(wanted);
    }

    /** Returns the types and sizes of the results, before they are taken. */
    public Set<TensorSpec> results() {
        Set<TensorSpec> sizes = new HashSet<>();
        for (int wanted : plan.accesses().wanted()) {
            if (storage.get(plan.values().result(wanted)) instanceof Tensor tensor) {
                sizes.add(tensor.spec());
            }
        }
        return sizes;
    }

    /** Returns a result of a nested block for the enclosing block: separate memory, or the memory that it was given. */
    @Nullable
    public Object share(int wanted) {
        return storage.share(wanted, interpretation.isNew(wanted));
    }

    /** Returns whether a result that was shared has memory that nothing else has. */
    boolean isOwn(int wanted) {
        return (storage.isOwn(wanted) && !interpretation.keeps(wanted)) || interpretation.isOwnOfRest(wanted);
    }

    /** Waits for devices, and throws their failure, if any. */
    public void drain() {
        if (queues != null) {
            queues.drain();
        }
    }

    /** Keeps the plan's kernels until the frame is closed, since the plan may be evicted during a run. */
    public Frame with(PreparedKernels.Hold hold) {
        kernels = hold;
        return this;
    }

    /** Sets what runs the rest of the block, if the plan has a {@link Task.Rest}. */
    public Frame with(@Nullable RestOfBlock after) {
        rest = after;
        return this;
    }

    /** Releases kernels, streams and memory outside of the arenas. */
    @Override
    public void close() {
        Workspace<CompiledPlan, Frame> alone = own;
        if (alone != null) {
            own = null;
            alone.close();
            return;
        }
        arguments.close();
        if (kernels != null) {
            kernels.close();
        }
        if (queues != null) {
            queues.close();
        }
        storage.close();
    }
}
