package io.seriatim.engine;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * Operations handed to one worker, which runs them one after the other without acquiring the tracker lock in between.
 * Fields that the owner writes and fields that the holder of the tracker lock writes are on different cache lines.
 *
 * <p>
 * A ring buffer with four indices, {@code harvested ≤ finished ≤ next ≤ limit}. The holder of the tracker lock adds
 * operations at {@code limit}, may remove unclaimed ones there again, and ends finished ones at {@code harvested}. The
 * owning worker claims operations at {@code next} and publishes {@code finished}. Both sides change {@code next} and
 * {@code limit}, so the two share one long, changed by compare-and-set: an operation is either claimed or taken back,
 * never both. The indices wrap around after 2³² operations of a worker, so they are compared by their difference only.
 */
final class Batch extends BatchCount {
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
        // The first call at each place links it, which takes memory: without it a worker would lose what it has
        // claimed.
        Batch first = new Batch(0);
        first.publish(1);
        first.claim();
        first.finish(null);
        first.isStuck(0);
        first.countExecuted();
        first.executed();
    }

    @SuppressWarnings("unused")
    private long p0, p1, p2, p3, p4, p5, p6, p7;
    /**
     * The next batch in the list of reports. Confined to the owner until this one is in the list, then guarded by the
     * tracker lock.
     */
    @Nullable
    Batch nextReport;
    /** Whether it is in that list, see {@link Reports}. */
    volatile boolean reported;
    // Accessed through CLAIMS.
    /** Guarded by its compare-and-set. */
    @SuppressWarnings("UnusedVariable")
    private long claims;
    /** Confined to the owner; the holder of the tracker lock reads it through {@code FINISHED}. */
    private int finished;
    private final @Nullable Operation[] ops = new Operation[SIZE];
    private final @Nullable Throwable[] thrown = new Throwable[SIZE];

    /**
     * Creates an empty batch.
     *
     * @param first
     *            the first value of the indices
     */
    Batch(int first) {
        super(first);
        claims = claims(first, first);
        finished = first;
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

    /** Claims the next operation to run, or returns null; called by the owner. */
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

    /** Records that the operation claimed last has run; called by the owner. */
    void finish(@Nullable Throwable t) {
        int f = finished;
        if (t != null) {
            // Written only then: otherwise the cache line would move between processors for each operation.
            thrown[f & MASK] = t;
        }
        FINISHED.setRelease(this, f + 1);
    }

    /** Returns the number of free slots; under the tracker lock. */
    int room() {
        return SIZE - (limit((long) CLAIMS.getAcquire(this)) - harvested);
    }

    /** Returns the number of unclaimed operations. */
    int waiting() {
        long c = (long) CLAIMS.getAcquire(this);
        return limit(c) - next(c);
    }

    /** Returns whether the owner has run all operations; under the tracker lock. */
    boolean isDrained() {
        return (int) FINISHED.getAcquire(this) == limit((long) CLAIMS.getAcquire(this));
    }

    /**
     * Stores an operation behind the unclaimed ones without publishing it; under the tracker lock.
     *
     * @param place
     *            the number of operations stored since the last {@link #publish}
     */
    void put(int place, Operation op) {
        ops[(limit((long) CLAIMS.getAcquire(this)) + place) & MASK] = op;
    }

    /**
     * Publishes the stored operations; under the tracker lock. A single step for all of them, because the owner
     * contends for the same word.
     */
    void publish(int added) {
        long c = (long) CLAIMS.getAcquire(this);
        while (!CLAIMS.compareAndSet(this, c, claims(next(c), limit(c) + added))) {
            c = (long) CLAIMS.getAcquire(this);
        }
    }

    /** Takes back the last unclaimed operation, or returns null; under the tracker lock. */
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

    /** Ends the operations that have finished; under the tracker lock. Their ends may call this method again. */
    void harvest(EngineCore core) {
        while (harvested != (int) FINISHED.getAcquire(this)) {
            int at = harvested++ & MASK;
            Operation op = ops[at];
            Throwable t = thrown[at];
            ops[at] = null;
            if (t != null) {
                thrown[at] = null;
            }
            if (op != null) {
                core.execution.ran(op, t);
            }
        }
    }

    /** Returns the operation that the owner has claimed and not finished, or null; under the tracker lock. */
    @Nullable
    Operation running() {
        int next = next((long) CLAIMS.getAcquire(this));
        int at = (int) FINISHED.getAcquire(this);
        return at == next ? null : ops[at & MASK];
    }

    /**
     * Returns whether the owner has made no progress during more than {@code patience} checks although operations are
     * unclaimed; under the tracker lock.
     */
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

    /** Passes each operation that has not been harvested to {@code look}; under the tracker lock. */
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
