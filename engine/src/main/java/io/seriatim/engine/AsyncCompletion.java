package io.seriatim.engine;

import io.seriatim.engine.sync.StackReserve;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The completion of one pushed operation. The first call ends the operation; later calls throw. */
final class AsyncCompletion extends UnqueuedOperation implements Completion {
    private static final VarHandle CALLED;

    static {
        try {
            CALLED = MethodHandles.lookup().findVarHandle(AsyncCompletion.class, "called", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    // Accessed through CALLED.
    @SuppressWarnings("UnusedVariable")
    private volatile int called;

    AsyncCompletion(Operation op) {
        super(op);
    }

    /**
     * Starts an asynchronous body. An exception that the body throws before it has completed is the operation's
     * failure; a later one goes to the handler of unhandled failures.
     */
    static void start(Operation op, AsyncBody body) {
        AsyncCompletion done = (AsyncCompletion) of(op);
        try {
            body.start(done);
        } catch (Throwable t) {
            if (CALLED.compareAndSet(done, 0, 1)) {
                op.core.execution.complete(op, t);
            } else {
                op.core.unhandled(t);
            }
        }
    }

    /** Marks the completion as called, because its operation has ended in another way. */
    void giveUp() {
        called = 1;
    }

    @Override
    public void complete() {
        end(null);
    }

    @Override
    public void fail(Throwable cause) {
        end(Objects.requireNonNull(cause, "cause"));
    }

    private void end(@Nullable Throwable cause) {
        // Allocate first, and mark the completion as called afterwards: a caller that runs out of memory or stack here
        // may call again.
        StackReserve.check();
        ThreadState.here();
        if (!CALLED.compareAndSet(this, 0, 1)) {
            throw new IllegalStateException(
                    "operation '" + op.name + "' has been completed already: call complete or fail exactly once");
        }
        op.core.execution.complete(op, cause);
    }
}
