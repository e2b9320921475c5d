package io.seriatim.engine.core;

import io.seriatim.engine.dependency.Callback;
import io.seriatim.engine.dependency.CallbackQueue;
import io.seriatim.engine.dependency.Operation;
import io.seriatim.engine.dependency.Owner;
import io.seriatim.engine.queue.OpSource;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Cancels the operations of an engine that was shut down: those that were queued or started then, and each one that
 * becomes ready later.
 *
 * <p>
 * <b>Slices.</b> Tens of thousands of operations may follow each other, and nobody can complete anything while the
 * tracker lock is held. So they are cancelled {@link #SLICE} at a time, and the lock is released in between. One thread
 * does it: the one that shuts the engine down, and later whoever calls this callback.
 */
public final class Cancellation extends Callback {
    /** How many operations are cancelled in one hold of the tracker lock. */
    static final int SLICE = 256;
    /** How long the tracker lock is left to others: longer than the naps of those who wait for it. */
    private static final long REST_NANOS = 50_000;

    private final EngineCore core;

    // Guarded by the tracker lock.
    /** What has become ready since the shutdown. */
    private final CallbackQueue ready = new CallbackQueue();
    /** What was queued at the shutdown. */
    private List<? extends OpSource> queued = List.of();
    /** Whether a thread is cancelling, or this was put off to be called. */
    private boolean active;

    Cancellation(EngineCore core) {
        this.core = core;
    }

    /** Cancels an operation that has become ready; under the tracker lock. */
    void add(Operation op) {
        ready.add(op);
        if (!active) {
            active = true;
            core.lock.defer(this);
        }
    }

    /** Takes what is queued and started; under the tracker lock. The calling thread calls {@link #call} then. */
    void begin() {
        queued = core.dispatcher.takeQueued();
        core.completions.elsewhere.beginScan();
        active = true;
    }

    /** Shows the operations that are to be cancelled, or to be queued again; under the tracker lock. */
    void forEach(Consumer<Operation> look) {
        ready.forEach(callback -> look.accept((Operation) callback));
        for (OpSource source : queued) {
            source.forEach(look);
        }
    }

    @Override
    public Owner owner() {
        return core;
    }

    @Override
    public boolean mayBlock() {
        return false;
    }

    /** Cancels all that is to be cancelled now; under no lock. */
    @Override
    public void call() {
        // Called after the last slice only: a callback may wait for what a later slice cancels.
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
                op = core.completions.elsewhere.scan();
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
        boolean cancels = core.isCancelled(op);
        if (cancels) {
            core.completions.cancel(op);
            core.completions.settle();
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
