package io.seriatim.engine;

import io.seriatim.engine.sync.Padding;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * The batches whose owners have run them and wait for the tracker lock: a stack (Treiber, Systems Programming: Coping
 * with Parallelism, 1986) that the holder of the lock takes whole, so that an element cannot come back while it is
 * compared.
 */
final class Reports extends Padding.Before {
    private static final VarHandle HEAD;
    private static final VarHandle REPORTED;

    static {
        try {
            HEAD = MethodHandles.lookup().findVarHandle(Reports.class, "head", Batch.class);
            REPORTED = MethodHandles.lookup().findVarHandle(Batch.class, "reported", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
        // The first call at each place links it, which takes memory: without it the holder of the lock could fail
        // between two steps that belong together.
        Reports first = new Reports();
        first.add(new Batch(0));
        first.next(first.takeAll());
    }

    private volatile @Nullable Batch head;
    @SuppressWarnings("unused")
    private long p8, p9, p10, p11, p12, p13, p14, p15;

    /**
     * Adds a batch, unless it is in the list; called by its owner. If it is, the holder of the tracker lock has not
     * removed it by {@link #next} yet, so it will see what the owner has finished: both steps are atomic and ordered.
     */
    void add(Batch batch) {
        if ((boolean) REPORTED.getAndSet(batch, true)) {
            return;
        }
        Batch h;
        do {
            h = head;
            batch.nextReport = h;
        } while (!HEAD.compareAndSet(this, h, batch));
    }

    /** Takes all batches; returns the first. Under the tracker lock. */
    @Nullable
    Batch takeAll() {
        return head == null ? null : (Batch) HEAD.getAndSet(this, null);
    }

    /** Removes a batch that was taken, before it is read; returns the next one. Under the tracker lock. */
    @Nullable
    Batch next(@Nullable Batch taken) {
        if (taken == null) {
            return null;
        }
        Batch following = taken.nextReport;
        taken.nextReport = null;
        taken.reported = false;
        return following;
    }

    boolean isEmpty() {
        return head == null;
    }
}
