package io.seriatim.engine;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * The operations that hold a variable and those that wait for it. Guarded by the tracker lock, except that any thread
 * may read the version and the failure.
 *
 * <p>
 * The variable is held by {@code writer}, by a number of {@code readers}, or by no operation. The others wait in push
 * order, from {@code head} to {@code tail}, linked through {@link Operation#next} at the index that the variable has in
 * each operation.
 */
final class VarState {
    private static final VarHandle VERSION;
    private static final VarHandle FAILURE;

    static {
        try {
            VERSION = MethodHandles.lookup().findVarHandle(VarState.class, "version", long.class);
            FAILURE = MethodHandles.lookup().findVarHandle(VarState.class, "failure", Failure.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
        // The first call at each place links it, for which there may be no memory when an operation ends.
        VarState first = new VarState();
        first.mutated(1);
        first.failure(first.version() > 0 ? first.failure() : null);
    }

    int readers;
    @Nullable
    Operation writer;
    @Nullable
    Operation head;
    @Nullable
    Operation tail;
    /** The number of operations in the queue, without waits. */
    int queued;
    /** The index of the variable in the head and in the tail. */
    int headPlace;
    int tailPlace;
    @Nullable
    VarTrace trace;
    /** The waits until all earlier operations have ended. */
    @Nullable
    Drain drains;
    @SuppressWarnings("UnusedVariable")
    private @Nullable Failure failure;
    private long version;

    /**
     * The times at which a recorded operation, and a recorded mutation, last released the variable; 0 if there was
     * none.
     */
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

    void mutated(int times) {
        VERSION.setRelease(this, version + times);
    }

    @Nullable
    Failure failure() {
        return (Failure) FAILURE.getAcquire(this);
    }

    void failure(@Nullable Failure f) {
        FAILURE.setRelease(this, f);
    }

    /** Whether a read gets the variable at once. */
    boolean openToRead() {
        return writer == null && head == null;
    }

    /** Whether a mutation gets the variable at once. */
    boolean openToMutate() {
        return writer == null && readers == 0 && head == null;
    }
}
