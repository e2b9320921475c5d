package io.seriatim.engine.dependency;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * Who holds a variable and who waits for it. Guarded by the tracker lock, except that any thread may look at the
 * version and the failure.
 *
 * <p>
 * Either {@code writer} is set, or {@code readers} operations hold it, or none. The others wait in push order, from
 * {@code head} to {@code tail}, linked through {@link Operation#next} at the place that this variable has in each.
 */
public final class VarState {
    private static final VarHandle VERSION;
    private static final VarHandle FAILURE;

    static {
        try {
            VERSION = MethodHandles.lookup().findVarHandle(VarState.class, "version", long.class);
            FAILURE = MethodHandles.lookup().findVarHandle(VarState.class, "failure", Failure.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    public int readers;
    @Nullable
    public Operation writer;
    @Nullable
    public Operation head;
    @Nullable
    public Operation tail;
    /** How many stand in the queue, waits left out. */
    public int queued;
    /** Where the variable stands in the head and in the tail. */
    int headPlace;
    int tailPlace;
    @Nullable
    public VarTrace trace;
    /** Those who wait until all operations have ended. */
    @Nullable
    public Drain drains;
    @SuppressWarnings("UnusedVariable")
    private @Nullable Failure failure;
    private long version;

    /** When a recorded operation gave it back last, and when one that mutates it did; 0 for never. */
    long usedAt;
    long mutatedAt;

    void freed(boolean read, long at) {
        usedAt = at;
        if (!read) {
            mutatedAt = at;
        }
    }

    long version() {
        return (long) VERSION.getAcquire(this);
    }

    void mutated() {
        VERSION.setRelease(this, version + 1);
    }

    @Nullable
    Failure failure() {
        return (Failure) FAILURE.getAcquire(this);
    }

    void failure(@Nullable Failure f) {
        FAILURE.setRelease(this, f);
    }

    /** Whether an operation that only reads may go on at once. */
    boolean openToRead() {
        return writer == null && head == null;
    }

    /** Whether an operation that mutates may go on at once. */
    boolean openToMutate() {
        return writer == null && readers == 0 && head == null;
    }
}
