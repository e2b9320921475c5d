package io.seriatim.engine;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The number of operations that the owner of a {@link Batch} has run. The owner writes it for every operation, so it is
 * on another cache line than what the holder of the tracker lock reads.
 */
abstract class BatchCount extends BatchProgress {
    private static final VarHandle EXECUTED;

    static {
        try {
            EXECUTED = MethodHandles.lookup().findVarHandle(BatchCount.class, "executed", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    @SuppressWarnings("unused")
    private long p8, p9, p10, p11, p12, p13, p14, p15;
    /** Confined to the owner; others read it through {@code EXECUTED}. */
    private long executed;

    BatchCount(int first) {
        super(first);
    }

    /** Counts an operation that the owner has run, in its batch or not; returns how many it had run before. */
    final long countExecuted() {
        return executed++;
    }

    /** Returns the number of operations that the owner has run; any thread may call this. */
    final long executed() {
        return (long) EXECUTED.getOpaque(this);
    }
}
