package io.seriatim.executor.run;

import io.seriatim.device.Device;
import io.seriatim.executor.ir.Copies;
import io.seriatim.executor.ir.Options;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.executor.trace.RunLog;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.PreparedKernels;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Executes the tasks of one run of a plan, on memory ({@link Storage}) and arguments ({@link Arguments}) that later runs
 * use again. Run loops decide which thread executes which task when. Of one run at a time, whose threads work on
 * different tasks.
 */
public final class Frame implements AutoCloseable {
    private final CompiledPlan plan;
    private final Options options;
    private final Storage storage;
    private final Arguments arguments;
    private final Work[][] works;
    /** Tasks of the host for which there is nothing to do but to call their kernels. */
    private final boolean[] isPlain;
    private final Interpretation interpretation;
    private final @Nullable DeviceQueues queues;
    private PreparedKernels.@Nullable Hold kernels;
    private @Nullable RunContext context;
    private @Nullable RunLog log;
    private ParallelRunLoop.@Nullable Run run;

    public Frame(CompiledPlan plan, Options options, StreamPool streams) {
        this.plan = plan;
        this.options = options;
        this.storage = new Storage(plan, options);
        this.arguments = new Arguments(plan, storage);
        this.works = arguments.works();
        this.interpretation = new Interpretation(plan, this, storage);
        this.queues = plan.streams().isHostOnly() ? null : new DeviceQueues(plan, this, storage, streams);
        this.isPlain = new boolean[works.length];
        for (int i = 0; i < isPlain.length; i++) {
            isPlain[i] = plan.tasks().get(i) instanceof Task.Compute && storage.rules().isPlain(i)
                    && plan.releases().after()[i].length == 0
                    && !options.nanCheck() && queues == null;
        }
    }

    /** Binds what a run is given. */
    public void begin(RunContext given, @Nullable RunLog recorded) {
        context = given;
        log = recorded;
        storage.begin(given);
        arguments.begin(given);
        if (queues != null) {
            queues.begin(arguments.keys());
        }
    }

    /** Counts a change of what a run writes, whatever becomes of the run: other runs begin after it. */
    public void change() {
        storage.change();
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

    /** The kernels of a task with their arguments. */
    public Work[] works(int task) {
        return works[task];
    }

    /** What a value is now. */
    @Nullable
    Object value(int value) {
        return storage.get(value);
    }

    /** Where this run is recorded; null if it is not. */
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
        storage.allocate(task);
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
        storage.release(task, null);
    }

    /** Gives a task's results memory, if they have none. */
    public void allocate(int task) {
        storage.allocate(task);
    }

    /** Sets what outlives the run when a task has completed it. */
    void handOver(int task) {
        storage.handOver(task, context());
    }

    /** Whether every operation's results must be finite. */
    boolean isChecked() {
        return options.nanCheck();
    }

    void requireFinite(int task) {
        for (int value : plan.tasks().get(task).writes()) {
            if (storage.get(value) instanceof Tensor tensor && tensor.dtype().isFloating()) {
                for (double element : Copies.toHost(tensor).toDoubleArray()) {
                    if (Double.isNaN(element) || Double.isInfinite(element)) {
                        throw new IllegalStateException("'" + plan.values().name(value) + "' holds " + element);
                    }
                }
            }
        }
    }

    /** Ends a run, whether it has failed or not: what no one has taken is released. */
    public void end() {
        storage.end(queues != null);
        context = null;
    }

    /** What is wanted of a run; it belongs to the caller. Null if nothing has computed it. */
    @Nullable
    public Object take(int wanted) {
        return storage.take(wanted);
    }

    /** What is wanted of an inner block, for the variables around it: memory of its own, or what it was given. */
    @Nullable
    public Object share(int wanted) {
        return storage.share(wanted);
    }

    /** Waits for devices, and throws what has failed there. */
    public void drain() {
        if (queues != null) {
            queues.drain();
        }
    }

    /** Keeps the plan's kernels as long as the frame is open: its plan may be dropped while it is run. */
    public Frame with(PreparedKernels.Hold hold) {
        kernels = hold;
        return this;
    }

    /** Gives memory, kernels and streams back. */
    @Override
    public void close() {
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
