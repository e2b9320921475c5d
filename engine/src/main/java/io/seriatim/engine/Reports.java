package io.seriatim.engine;

import io.seriatim.engine.sync.Padding;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * The workers that have run their batches and wait for the tracker lock: a stack (Treiber, Systems Programming: Coping
 * with Parallelism, 1986) that the holder of the lock takes whole, so that an element cannot come back while it is
 * compared.
 */
final class Reports extends Padding.Before {
    private static final VarHandle HEAD;

    static {
        try {
            HEAD = MethodHandles.lookup().findVarHandle(Reports.class, "head", Worker.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private volatile @Nullable Worker head;
    @SuppressWarnings("unused")
    private long p8, p9, p10, p11, p12, p13, p14, p15;

    /** Adds the calling worker, unless it is in the list. */
    void add(Worker me) {
        if (!me.report()) {
            return;
        }
        Worker h;
        do {
            h = head;
            me.nextReport = h;
        } while (!HEAD.compareAndSet(this, h, me));
    }

    /** Removes all workers; returns the first, which links to the next. Under the tracker lock. */
    @Nullable
    Worker takeAll() {
        return head == null ? null : (Worker) HEAD.getAndSet(this, null);
    }

    boolean isEmpty() {
        return head == null;
    }
}
