package io.seriatim.engine;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The states of one worker. A state is created at its first use; when the worker ends, the states are closed in reverse
 * order of creation. An engine without workers has one instance for each lane, which the threads that run the lane's
 * operations share.
 *
 * <p>
 * Suppliers and {@code close} methods are user code, so no lock is held while they run. A thread that calls a supplier
 * registers the call in {@link #making}; another thread that needs a missing state waits for that call and then checks
 * again.
 */
final class WorkerStates {
    @GuardedBy("this")
    private final List<Supplier<?>> unmade;
    @GuardedBy("this")
    private final Deque<Object> made = new ArrayDeque<>();
    @GuardedBy("this")
    private @Nullable Making making;
    @GuardedBy("this")
    private boolean closed;

    /** A running call of a supplier. */
    private static final class Making {
        private final Thread thread = Thread.currentThread();
        private final CountDownLatch ended = new CountDownLatch(1);
        private final Supplier<?> supplier;

        Making(Supplier<?> supplier) {
            this.supplier = supplier;
        }
    }

    WorkerStates(List<Supplier<?>> suppliers) {
        unmade = new ArrayList<>(suppliers);
    }

    <T> T get(Class<T> type, Operation op) {
        while (true) {
            Making next;
            boolean own;
            synchronized (this) {
                for (Object state : made) {
                    if (type.isInstance(state)) {
                        return type.cast(state);
                    }
                }
                own = making == null;
                if (own && unmade.isEmpty()) {
                    throw new IllegalStateException("lane '" + op.lane + "' of operation '" + op.name
                            + "' has no worker state of type " + type.getName()
                            + ": give the engine's builder one with workerState(lane, supplier)");
                }
                next = making == null ? new Making(unmade.get(0)) : making;
                making = next;
            }
            if (own) {
                make(next, op);
            } else {
                await(next, type, op);
            }
        }
    }

    private void make(Making own, Operation op) {
        Object state = null;
        boolean kept = false;
        try {
            state = Objects.requireNonNull(own.supplier.get(),
                    "a worker state made by the supplier given to workerState");
        } finally {
            synchronized (this) {
                if (state != null && !closed) {
                    unmade.remove(0);
                    made.push(state);
                    kept = true;
                }
                making = null;
            }
            own.ended.countDown();
        }
        if (!kept) {
            close(state, op.core);
        }
    }

    private static void await(Making other, Class<?> type, Operation op) {
        if (Thread.currentThread().equals(other.thread)) {
            throw new IllegalStateException("operation '" + op.name + "' asks for a worker state of type "
                    + type.getName()
                    + " inside of a supplier of worker states; only those are there that were made before");
        }
        Engine.blocking(() -> {
            boolean interrupted = false;
            while (true) {
                try {
                    other.ended.await();
                    break;
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        });
    }

    /** Closes the states. Later requests for a state fail. */
    void close(EngineCore core) {
        Object state;
        // Nothing is allocated: a worker may end where memory does.
        while ((state = next()) != null) {
            close(state, core);
        }
    }

    private synchronized @Nullable Object next() {
        closed = true;
        unmade.clear();
        return made.poll();
    }

    private static void close(@Nullable Object state, EngineCore core) {
        if (state instanceof AutoCloseable closeable) {
            boolean aside = Thread.interrupted();
            try {
                closeable.close();
            } catch (Throwable t) {
                core.unhandled(t);
            } finally {
                ThreadState.endCallback(aside);
            }
        }
    }
}
