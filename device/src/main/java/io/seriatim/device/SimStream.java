package io.seriatim.device;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A queue of commands and the thread that runs them in order. {@code lock} guards the queue. {@code issue} is held
 * around a call of the race detector and the following append, so that both see the commands in the same order.
 */
final class SimStream implements Stream {
    private static final double NANOS = 1e9;

    private final SimDevice device;
    private final String name;
    private final RaceDetector.Party party;
    private final Object issue = new Object();
    private final Object lock = new Object();
    @GuardedBy("lock")
    private final Queue<Command> queue = new ArrayDeque<>();
    @GuardedBy("lock")
    private @Nullable SimThread thread;
    @GuardedBy("lock")
    private boolean closed;
    /** The last event of a closed stream, or null if the stream never had work. */
    @GuardedBy("lock")
    private @Nullable SimEvent last;
    private @Nullable StreamCache cache;
    /** The first failure since the last recorded event. Used by the stream's thread only. */
    private @Nullable Throwable failure;

    private sealed interface Command {
        record Work(List<Access> accesses, long nanos, Body body) implements Command {
        }

        record Mark(SimEvent event, boolean takesFailure) implements Command {
        }

        record Wait(Event event) implements Command {
        }

        record End() implements Command {
        }
    }

    SimStream(SimDevice device, String name) {
        this.device = device;
        this.name = Objects.requireNonNull(name, "name");
        party = device.detector().newParty(device.place() + "/" + name);
    }

    void open(StreamCache ofDevice) {
        cache = ofDevice;
    }

    StreamCache cache() {
        return Objects.requireNonNull(cache);
    }

    RaceDetector detector() {
        return device.detector();
    }

    @Override
    public Device device() {
        return device;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public void launch(String operation, List<Access> accesses, Body body) {
        Objects.requireNonNull(operation, "operation");
        Objects.requireNonNull(body, "body");
        issue(operation, List.copyOf(accesses), device.options().launchLatency().toNanos(), body);
    }

    @Override
    public void launchHost(String operation, List<Access> accesses, Body body) {
        Accesses.checkHost(operation, accesses);
        launch(operation, accesses, body);
    }

    @Override
    public void copy(String operation, Access source, Access target) {
        Accesses.checkCopy(operation, source, target);
        long bandwidth = device.options().copyBandwidth();
        long nanos = device.options().launchLatency().toNanos()
                + (bandwidth == 0 ? 0 : (long) (source.bytes() * NANOS / bandwidth));
        target.buffer().changed();
        issue(operation, List.of(source, target), nanos,
                () -> MemorySegment.copy(source.buffer().block().segment, source.offset(),
                        target.buffer().block().segment, target.offset(),
                        source.bytes()));
    }

    private void issue(String operation, List<Access> accesses, long nanos, Body body) {
        for (Access access : accesses) {
            access.buffer().usedOn(this);
        }
        synchronized (issue) {
            requireOpen();
            if (device.options().raceDetection()) {
                detector().launch(party, operation, accesses);
            }
            add(new Command.Work(accesses, nanos, body));
        }
    }

    @Override
    public Event record() {
        return event(true);
    }

    @Override
    public Event mark() {
        return event(false);
    }

    private Event event(boolean takesFailure) {
        synchronized (issue) {
            SimEvent event = newEvent();
            // A closed stream ends with its last event.
            return add(new Command.Mark(event, takesFailure)) ? event : last();
        }
    }

    private SimEvent newEvent() {
        return new SimEvent(this, device.options().raceDetection() ? detector().record(party) : null);
    }

    private Event last() {
        synchronized (lock) {
            return last == null ? new DoneEvent(name, null) : last;
        }
    }

    @Override
    public void waitFor(Event event) {
        Objects.requireNonNull(event, "event");
        synchronized (issue) {
            requireOpen();
            if (event instanceof SimEvent other && other.clock() != null) {
                detector().waitFor(party, other.clock());
            }
            if (!(event instanceof DoneEvent done) || done.failure() != null) {
                add(new Command.Wait(event));
            }
        }
    }

    private void requireOpen() {
        synchronized (lock) {
            if (closed) {
                throw new IllegalStateException("The stream '" + name + "' of " + device.place() + " is closed");
            }
        }
    }

    /** Appends a command; returns false if the stream is closed. */
    private boolean add(Command command) {
        synchronized (lock) {
            if (closed) {
                return false;
            }
            queue.add(command);
            if (thread == null) {
                thread = new SimThread(this, this::work);
                thread.start();
            }
            lock.notifyAll();
            return true;
        }
    }

    private Command next() throws InterruptedException {
        synchronized (lock) {
            while (queue.isEmpty()) {
                lock.wait();
            }
            return queue.remove();
        }
    }

    private void work() {
        boolean more = true;
        while (more) {
            try {
                more = run(next());
            } catch (InterruptedException e) {
                // Only launched work can have interrupted this thread. The stream must go on, because threads wait for
                // its events.
                failure = failure == null ? e : failure;
            }
        }
    }

    private boolean run(Command command) throws InterruptedException {
        switch (command) {
            case Command.Work work -> run(work);
            case Command.Mark mark -> {
                Throwable cause = mark.takesFailure() ? failure : null;
                failure = mark.takesFailure() ? null : failure;
                mark.event().complete(cause);
            }
            case Command.Wait wait -> {
                Throwable cause = wait.event() instanceof SimEvent event ? event.await() : await(wait.event());
                failure = failure == null ? cause : failure;
            }
            case Command.End _ -> {
                return false;
            }
        }
        return true;
    }

    private static @Nullable Throwable await(Event event) throws InterruptedException {
        try {
            event.synchronize();
        } catch (StreamFailedException e) {
            return event.failure();
        }
        return null;
    }

    private void run(Command.Work work) {
        if (failure != null) {
            return;
        }
        pass(work.nanos());
        SimThread self = Objects.requireNonNull(SimThread.current());
        self.declare(work.accesses());
        try {
            work.body().run();
        } catch (Throwable e) {
            failure = e;
        } finally {
            self.declare(List.of());
        }
    }

    private static void pass(long nanos) {
        long end = System.nanoTime() + nanos;
        for (long left = nanos; left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    @Override
    public void close() {
        if (!device.isDefault(this)) {
            device.forget(this);
            end();
        }
    }

    /** Refuses new work; the thread ends after the queued work. Does not wait. */
    void end() {
        synchronized (issue) {
            SimEvent event = newEvent();
            synchronized (lock) {
                if (!closed && thread != null) {
                    queue.add(new Command.Mark(event, true));
                    queue.add(new Command.End());
                    last = event;
                    lock.notifyAll();
                }
                closed = true;
            }
        }
    }

    /** Waits until the thread of a closed stream has ended. */
    void join() {
        SimThread ended;
        synchronized (lock) {
            ended = thread;
        }
        if (ended != null && SimThread.current() != ended) {
            join(ended);
        }
    }

    private static void join(Thread thread) {
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
