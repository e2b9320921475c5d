package io.seriatim.engine;

import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Cancels the operations of an engine that was shut down: those that were queued or started at the shutdown, and those
 * that become ready later.
 *
 * <p>
 * <b>Slices.</b> Cancelling one operation may make tens of thousands of others ready, and no operation can complete
 * while the tracker lock is held. So at most {@link #SLICE} operations are cancelled before the lock is released for a
 * moment. One thread at a time does this: first the thread that shuts the engine down, later the thread that calls this
 * callback.
 */
final class Cancellation extends Callback {
    /** The maximum number of operations that are cancelled while the tracker lock is held once. */
    static final int SLICE = 256;
    /** The pause between two slices: longer than the naps of threads that wait for the tracker lock. */
    private static final long REST_NANOS = 50_000;

    private final EngineCore core;

    // Guarded by the tracker lock.
    /** The operations that have become ready since the shutdown. */
    private final CallbackQueue ready = new CallbackQueue();
    /** The operations that were queued at the shutdown. Guarded by the tracker lock. */
    private List<? extends OpSource> queued = List.of();
    /** Whether a thread is cancelling operations, or this callback is deferred. Guarded by the tracker lock. */
    private boolean active;

    Cancellation(EngineCore core) {
        this.core = core;
    }

    /** Schedules the cancellation of an operation that has become ready; under the tracker lock. */
    void add(Operation op) {
        assert core.lock.isHeldByCurrentThread();
        ready.add(op);
        if (!active) {
            active = true;
            core.lock.defer(this);
        }
    }

    /**
     * Collects the queued and started operations; under the tracker lock. The calling thread must then call
     * {@link #call}.
     */
    void begin() {
        assert core.lock.isHeldByCurrentThread();
        queued = core.dispatcher.takeQueued();
        core.execution.unqueued.beginScan();
        active = true;
    }

    /**
     * Passes each operation that is still to be cancelled, or queued again, to {@code look}; under the tracker lock.
     */
    void forEach(Consumer<Operation> look) {
        ready.forEach(callback -> look.accept((Operation) callback));
        for (OpSource source : queued) {
            source.forEach(look);
        }
    }

    @Override
    EngineCore owner() {
        return core;
    }

    @Override
    boolean mayBlock() {
        return false;
    }

    /** Cancels all scheduled operations; under no lock. */
    @Override
    void call() {
        // Called only after the last slice: a callback may wait for an operation that a later slice cancels.
        CallbackQueue callbacks = new CallbackQueue();
        try {
            boolean more = true;
            while (more) {
                core.lock.enter();
                Callback others = core.lock.lastDeferred();
                try {
                    more = slice();
                    active = more;
                } finally {
                    core.lock.exitKeeping(callbacks, others);
                }
                core.rules.paused();
                if (more) {
                    LockSupport.parkNanos(this, REST_NANOS);
                }
            }
        } finally {
            core.lock.callAll(callbacks);
        }
    }

    private boolean slice() {
        for (int i = 0; i < SLICE; i++) {
            Operation op = next();
            if (op == null) {
                op = core.execution.unqueued.scan();
                if (op == null) {
                    return false;
                }
                if (op.has(Operation.STARTED)) {
                    cancel(op);
                }
            } else if (!cancel(op)) {
                core.dispatcher.ready(op);
            }
            core.rules.visited();
        }
        return true;
    }

    private boolean cancel(Operation op) {
        boolean cancels = core.execution.isCancelled(op);
        if (cancels) {
            core.execution.cancel(op);
            core.execution.settle();
        }
        return cancels;
    }

    private @Nullable Operation next() {
        Operation op = (Operation) ready.poll();
        if (op != null) {
            return op;
        }
        for (OpSource source : queued) {
            op = source.poll();
            if (op != null) {
                return op;
            }
        }
        queued = List.of();
        return null;
    }
}
