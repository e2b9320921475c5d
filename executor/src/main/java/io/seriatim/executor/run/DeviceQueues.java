package io.seriatim.executor.run;

import io.seriatim.device.Event;
import io.seriatim.device.Stream;
import io.seriatim.device.StreamFailedException;
import io.seriatim.executor.ir.Access;
import io.seriatim.executor.ir.Copies;
import io.seriatim.executor.ir.Failures;
import io.seriatim.executor.ir.RunFailure;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.executor.schedule.Streams;
import io.seriatim.executor.trace.RunLog;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.kernel.KernelContext;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** The streams of a frame and the events of its current run. */
final class DeviceQueues implements AutoCloseable {
    private final CompiledPlan plan;
    private final Frame frame;
    private final Storage storage;
    private final StreamPool pool;
    private final List<Stream> streams = new ArrayList<>();
    private final @Nullable Event[] events;
    /** The tasks that have been launched in this run. */
    private final Queue<Integer> completed = new ConcurrentLinkedQueue<>();
    /** Variables that outlive the run and that it has given another shape. */
    private final Queue<Integer> reshaped = new ConcurrentLinkedQueue<>();
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

    DeviceQueues(CompiledPlan plan, Frame frame, Storage storage, StreamPool pool) {
        this.plan = plan;
        this.frame = frame;
        this.storage = storage;
        this.pool = pool;
        this.events = new Event[plan.tasks().size()];
        for (Streams.Key key : plan.streams().streams()) {
            streams.add(pool.take(key));
        }
    }

    /** Begins a run: copies the keys of random number generators to the places that read them. */
    void begin(List<Arguments.RandomKey> keys) {
        failure.set(null);
        completed.clear();
        reshaped.clear();
        for (Arguments.RandomKey key : keys) {
            if (key.host() != key.there()) {
                Copies.copy("random key", key.host(), key.there());
            }
        }
    }

    /** Launches a task on its device, without waiting for it. */
    void issue(int index) throws InterruptedException {
        Task task = plan.tasks().get(index);
        Stream stream = streams.get(plan.streams().stream()[index]);
        observe(index);
        for (int other : plan.streams().waits()[index]) {
            stream.waitFor(Objects.requireNonNull(events[other]));
        }
        storage.allocate(index, stream);
        RunLog log = frame.log();
        if (log != null) {
            int number = plan.streams().stream()[index];
            int lane = log.stream(task.place().toString(), number, plan.streams().streams().get(number).toString());
            stream.launchHost("recorded", List.of(), () -> log.started(index, lane));
        }
        if (task instanceof Task.Transfer(int from, int to, var _, var _)) {
            transfer(task.name(), from, to, stream);
        } else {
            for (Work work : frame.works(index)) {
                stream.launch(work.stage().name(), work.accesses(), () -> run(work));
            }
        }
        if (log != null) {
            stream.launchHost("recorded", List.of(), () -> log.ended(index));
        }
        completed.add(index);
        if (frame.isChecked() && !(task instanceof Task.Transfer)) {
            Copies.await(stream);
            rethrow();
            frame.requireFinite(index);
        }
        storage.release(index, stream);
        if (plan.streams().recorded()[index]) {
            events[index] = stream.record();
        }
    }

    private void transfer(String name, int from, int to, Stream stream) {
        Tensor source = (Tensor) Objects.requireNonNull(storage.get(from));
        Tensor target = (Tensor) Objects.requireNonNull(storage.get(to));
        if (!target.spec().equals(source.spec())) {
            // The run has given the variable another shape.
            target = new Tensor(stream.device().allocate(source.spec().bytes(), stream), 0, source.spec());
            storage.set(to, target);
            reshaped.add(to);
        }
        if (source.spec().bytes() > 0) {
            if (outlives(to)) {
                stream.launchHost("check", List.of(), this::rethrow);
            }
            stream.copy(name, source.access(false), target.access(true));
        }
    }

    /** Returns whether a value outlives the run. */
    private boolean outlives(int value) {
        return plan.values().isInScope(plan.values().memory(value));
    }

    /** Reads the events for which other threads have waited, so that their effects are visible to this thread. */
    private void observe(int task) {
        for (int other : plan.streams().passed()[task]) {
            if (!Objects.requireNonNull(events[other]).isDone()) {
                throw new IllegalStateException(
                        "Task " + other + " must end before task " + task + " begins, but its event is not done");
            }
        }
    }

    /**
     * Runs a stage on the thread of a stream. After a failure, later stages are skipped: they would read values that
     * were not computed.
     */
    private void run(Work work) {
        if (failure.get() == null) {
            try {
                work.run(KernelContext.current());
            } catch (Throwable e) {
                fail(work.stage().access(), e);
            }
        }
    }

    private void fail(Access access, Throwable cause) {
        RunFailure failed = Failures.of(List.of(access), this::shape, cause);
        Throwable first = failure.compareAndExchange(null, failed);
        if (first != null) {
            first.addSuppressed(failed);
        }
    }

    private @Nullable String shape(int value) {
        TensorSpec spec = plan.values().spec(value);
        return spec == null ? null : Failures.shape(spec);
    }

    /** Waits for the events that a task of the host depends on. */
    void awaitFor(int task) throws InterruptedException {
        observe(task);
        for (int other : plan.streams().hostWaits()[task]) {
            try {
                Objects.requireNonNull(events[other]).synchronize();
            } catch (StreamFailedException e) {
                rethrow();
                throw e;
            }
        }
        rethrow();
    }

    /** Returns the event recorded after a task. */
    Event event(int task) {
        return Objects.requireNonNull(events[task]);
    }

    private void rethrow() {
        if (failure.get() instanceof RunFailure failed) {
            throw failed;
        }
    }

    /**
     * Waits until all streams are empty, also after a failure. If there was none, stores the variables that outlive the
     * run; otherwise throws the failure.
     */
    void drain() {
        StreamFailedException failed = null;
        for (Stream stream : streams) {
            StreamFailedException each = Copies.await(stream);
            failed = each == null ? failed : each;
        }
        rethrow();
        if (failed != null) {
            throw new RunFailure("plan", String.valueOf(failed.getMessage()), failed);
        }
        completed.forEach(frame::handOver);
        completed.clear();
        reshaped.forEach(value -> frame.context().bindings().set(plan.values().name(value),
                Objects.requireNonNull(storage.get(value))));
        reshaped.clear();
    }

    @Override
    public void close() {
        for (int i = 0; i < streams.size(); i++) {
            pool.giveBack(plan.streams().streams().get(i), streams.get(i));
        }
        streams.clear();
    }
}
