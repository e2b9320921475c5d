package io.seriatim.engine;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Delivers the events of one variable to a listener. Events are queued in order under the tracker lock, and delivered
 * without the lock, by one thread at a time.
 */
final class VarTrace extends Callback {
    private final Variable var;
    private final Consumer<VarEvent> listener;
    private final Queue<VarEvent> events = new ConcurrentLinkedQueue<>();
    private final AtomicInteger tellers = new AtomicInteger();
    /** Whether this callback is deferred; guarded by the tracker lock. */
    private boolean deferred;

    VarTrace(Variable var, Consumer<VarEvent> listener) {
        this.var = var;
        this.listener = listener;
    }

    void ready(Operation op, int place) {
        if (!op.has(Operation.SILENT)) {
            queue(place < op.reads ? VarEvent.Kind.READ_READY : VarEvent.Kind.MUTATE_READY, op);
        }
    }

    void ended(Operation op, int place, @Nullable Failure failure) {
        if (op.has(Operation.CLEARS)) {
            queue(VarEvent.Kind.CLEARED, op);
        } else if (op.has(Operation.DELETES)) {
            queue(VarEvent.Kind.DELETED, op);
        } else if (!op.has(Operation.SILENT)) {
            VarEvent.Kind mutated = failure == null ? VarEvent.Kind.MUTATED : VarEvent.Kind.POISONED;
            queue(place < op.reads ? VarEvent.Kind.READ_ENDED : mutated, op);
        }
    }

    private void queue(VarEvent.Kind kind, Operation op) {
        events.add(new VarEvent(kind, var, op.name, var.version(), System.nanoTime()));
        if (!deferred) {
            deferred = true;
            var.core.lock.defer(this);
        }
    }

    @Override
    EngineCore owner() {
        return var.core;
    }

    /**
     * Delivers queued events. The thread that raises the count from zero delivers until the count is zero again; other
     * threads leave their events to it.
     */
    @Override
    void call() {
        // An event that is queued from now on defers this callback again.
        var.core.lock.enter();
        deferred = false;
        var.core.lock.exit();
        if (tellers.getAndIncrement() > 0) {
            return;
        }
        do {
            VarEvent event;
            while ((event = events.poll()) != null) {
                tell(event);
            }
        } while (tellers.decrementAndGet() > 0);
    }

    private void tell(VarEvent event) {
        try {
            listener.accept(event);
        } catch (Throwable t) {
            var.core.unhandled(t);
        } finally {
            // The next call of the listener must not see it; that of the thread itself was set aside.
            Thread.interrupted();
        }
    }
}
