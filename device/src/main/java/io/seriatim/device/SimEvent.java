package io.seriatim.device;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** An event of a simulated stream. */
final class SimEvent implements Event {
    private final SimStream stream;
    private final @Nullable VectorClock clock;
    private final CountDownLatch done = new CountDownLatch(1);
    @GuardedBy("this")
    private List<Consumer<@Nullable Throwable>> listeners = new ArrayList<>(1);
    private volatile @Nullable Throwable failure;

    SimEvent(SimStream stream, @Nullable VectorClock clock) {
        this.stream = stream;
        this.clock = clock;
    }

    @Nullable
    VectorClock clock() {
        return clock;
    }

    @Override
    public boolean isDone() {
        boolean is = done.getCount() == 0;
        if (is) {
            observe();
        }
        return is;
    }

    private void observe() {
        if (clock != null) {
            stream.detector().observe(clock);
        }
    }

    @Override
    public @Nullable Throwable failure() {
        return failure;
    }

    @Override
    public void synchronize() throws InterruptedException {
        SimThread thread = SimThread.current();
        if (thread != null && thread.stream() == stream && done.getCount() != 0) {
            throw new IllegalStateException("Work on the stream '" + stream.name() + "' of " + stream.device().place()
                    + " waits for an event that is recorded after it, so the wait can never end: wait outside the "
                    + "launched work");
        }
        done.await();
        observe();
        Throwable cause = failure;
        if (cause != null) {
            throw new StreamFailedException(
                    "Work on the stream '" + stream.name() + "' of " + stream.device().place() + " failed: " + cause,
                    cause);
        }
    }

    @Override
    public void onDone(Consumer<@Nullable Throwable> listener) {
        synchronized (this) {
            if (done.getCount() != 0) {
                listeners.add(listener);
                return;
            }
        }
        observe();
        listener.accept(failure);
    }

    /** Waits on a stream's thread. Unlike {@link #synchronize}, this is not an observation by a host thread. */
    @Nullable
    Throwable await() throws InterruptedException {
        done.await();
        return failure;
    }

    /** Marks the event as done; called once, on the stream's thread. */
    void complete(@Nullable Throwable cause) {
        List<Consumer<@Nullable Throwable>> waiting;
        synchronized (this) {
            failure = cause;
            done.countDown();
            waiting = listeners;
            listeners = List.of();
        }
        if (!waiting.isEmpty()) {
            observe();
        }
        for (Consumer<@Nullable Throwable> listener : waiting) {
            try {
                listener.accept(cause);
            } catch (RuntimeException | Error e) {
                // The stream goes on, because a failure of the listener is not a failure of the work.
                System.getLogger(SimEvent.class.getName()).log(System.Logger.Level.ERROR,
                        "A listener of an event of the stream '" + stream.name() + "' failed", e);
            }
        }
    }
}
