package io.seriatim.engine.dependency;

import io.seriatim.engine.VarEvent;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Tells a listener of one variable's events. They are queued under the tracker lock, in the variable's order, and
 * told after it, by one thread at a time.
 */
public final class VarTrace extends Callback {
    private final Variable var;
    private final Consumer<VarEvent> listener;
    private final Queue<VarEvent> events = new ConcurrentLinkedQueue<>();
    private final AtomicInteger tellers = new AtomicInteger();
    /** Whether it is among the callbacks put off; guarded by the tracker lock. */
    private boolean deferred;

    public VarTrace(Variable var, Consumer<VarEvent> listener) {
        this.var = var;
        this.listener = listener;
    }

    public void ready(Operation op, int place) {
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
            var.core.defer(this);
        }
    }

    @Override
    public Owner owner() {
        return var.core;
    }

    /** Who raises the count from zero tells, until it is zero again; the others leave it to that thread. */
    @Override
    public void call() {
        // Events that are queued from now on bring it back.
        var.core.enter();
        deferred = false;
        var.core.exit();
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
        }
    }
}
