package io.seriatim.engine.dispatch;

import io.seriatim.engine.EngineSnapshot;
import io.seriatim.engine.core.Dispatcher;
import io.seriatim.engine.core.EngineCore;
import io.seriatim.engine.dependency.Operation;
import io.seriatim.engine.sync.Padding;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * Operations handed to one worker, which runs them one after the other without taking the tracker lock in between.
 *
 * <p>
 * Four indices run round a ring: {@code harvested ≤ finished ≤ next ≤ limit}. Whoever holds the tracker lock adds
 * operations at the limit, may take back at the limit those that have not been claimed, and takes up from
 * {@code harvested} those that have finished. The owner claims at {@code next} and publishes {@code finished}. The two
 * words that they contend for, {@code next} and {@code limit}, are one long, changed by compare-and-set: an operation
 * is claimed or taken back, never both. The indices wrap round after 2³² operations of a worker: they are compared by
 * their difference only.
 */
public final class Batch extends Padding.Before {
    private static final int SIZE = 16;
    private static final int MASK = SIZE - 1;
    private static final int HALF = 32;
    private static final VarHandle CLAIMS;
    private static final VarHandle FINISHED;

    static {
        try {
            CLAIMS = MethodHandles.lookup().findVarHandle(Batch.class, "claims", long.class);
            FINISHED = MethodHandles.lookup().findVarHandle(Batch.class, "finished", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final @Nullable Operation[] ops = new Operation[SIZE];
    private final @Nullable Throwable[] thrown = new Throwable[SIZE];
    // Through CLAIMS.
    @SuppressWarnings("UnusedVariable")
    private long claims;
    private int finished;

    // Guarded by the tracker lock.
    private int harvested;
    private int progressSeen;
    private int looks;
    @SuppressWarnings("unused")
    private long p8, p9, p10, p11, p12, p13, p14, p15;

    /**
     * An empty batch.
     *
     * @param first
     *            where its indices begin
     */
    Batch(int first) {
        claims = claims(first, first);
        finished = first;
        harvested = first;
        progressSeen = first;
    }

    private static int next(long claims) {
        return (int) (claims >>> HALF);
    }

    private static int limit(long claims) {
        return (int) claims;
    }

    private static long claims(int next, int limit) {
        return (long) next << HALF | Integer.toUnsignedLong(limit);
    }

    /** Takes the next operation to run, or null; the owner. */
    @Nullable
    Operation claim() {
        while (true) {
            long c = (long) CLAIMS.getAcquire(this);
            int next = next(c);
            if (next == limit(c)) {
                return null;
            }
            if (CLAIMS.compareAndSet(this, c, claims(next + 1, limit(c)))) {
                return ops[next & MASK];
            }
        }
    }

    /** The operation claimed last was run; the owner. */
    void finish(@Nullable Throwable t) {
        int f = finished;
        thrown[f & MASK] = t;
        FINISHED.setRelease(this, f + 1);
    }

    /** How many may be put; under the tracker lock. */
    int room() {
        return SIZE - (limit((long) CLAIMS.getAcquire(this)) - harvested);
    }

    /** How many are not claimed. */
    public int waiting() {
        long c = (long) CLAIMS.getAcquire(this);
        return limit(c) - next(c);
    }

    /**
     * Puts another operation behind those that wait, not yet to be claimed; under the tracker lock.
     *
     * @param place
     *            how many were put since the last {@link #publish}
     */
    void put(int place, Operation op) {
        ops[(limit((long) CLAIMS.getAcquire(this)) + place) & MASK] = op;
    }

    /**
     * Hands over the operations that were put; under the tracker lock. One step for all: the owner may be claiming from
     * the same word.
     */
    void publish(int added) {
        long c = (long) CLAIMS.getAcquire(this);
        while (!CLAIMS.compareAndSet(this, c, claims(next(c), limit(c) + added))) {
            c = (long) CLAIMS.getAcquire(this);
        }
    }

    /** Takes back the last operation that is not claimed, or null; under the tracker lock. */
    @Nullable
    Operation takeBack() {
        while (true) {
            long c = (long) CLAIMS.getAcquire(this);
            if (limit(c) == next(c)) {
                return null;
            }
            int last = limit(c) - 1;
            if (CLAIMS.compareAndSet(this, c, claims(next(c), last))) {
                Operation op = ops[last & MASK];
                ops[last & MASK] = null;
                return op;
            }
        }
    }

    /** Lets the operations that have finished end; under the tracker lock. Their ends may lead here again. */
    void harvest(EngineCore core) {
        while (harvested != (int) FINISHED.getAcquire(this)) {
            int at = harvested++ & MASK;
            Operation op = ops[at];
            Throwable t = thrown[at];
            ops[at] = null;
            thrown[at] = null;
            if (op != null) {
                core.completions.ran(op, t);
            }
        }
    }

    /** Whether the owner has not got on for some looks although operations wait here; under the tracker lock. */
    boolean isStuck(int patience) {
        int f = (int) FINISHED.getAcquire(this);
        if (f != progressSeen || waiting() == 0) {
            progressSeen = f;
            looks = 0;
            return false;
        }
        if (looks <= patience) {
            looks++;
        }
        return looks > patience;
    }

    /** Shows what has not been harvested; under the tracker lock. */
    void forEach(Dispatcher.Look look, Thread owner) {
        long c = (long) CLAIMS.getAcquire(this);
        for (int i = harvested; i != limit(c); i++) {
            Operation op = ops[i & MASK];
            if (op != null) {
                boolean claimed = i - next(c) < 0;
                look.at(op, claimed ? EngineSnapshot.State.RUNNING : EngineSnapshot.State.READY,
                        claimed ? owner : null);
            }
        }
    }
}
