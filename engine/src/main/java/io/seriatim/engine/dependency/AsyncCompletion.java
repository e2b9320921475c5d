package io.seriatim.engine.dependency;

import io.seriatim.engine.AsyncBody;
import io.seriatim.engine.Completion;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The completion of one pushed operation; the first call counts. */
public final class AsyncCompletion extends Elsewhere implements Completion {
    private static final VarHandle CALLED;

    static {
        try {
            CALLED = MethodHandles.lookup().findVarHandle(AsyncCompletion.class, "called", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    // Through CALLED.
    @SuppressWarnings("UnusedVariable")
    private volatile int called;

    public AsyncCompletion(Operation op) {
        super(op);
    }

    /** Starts an asynchronous body. A throw before its completion is its failure; one after it is no one's. */
    public static void start(Operation op, AsyncBody body) {
        AsyncCompletion done = (AsyncCompletion) of(op);
        try {
            body.start(done);
        } catch (Throwable t) {
            if (CALLED.compareAndSet(done, 0, 1)) {
                op.core.complete(op, t);
            } else {
                op.core.unhandled(t);
            }
        }
    }

    /** Its operation has ended otherwise. */
    public void giveUp() {
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
        // What the end needs is there before it counts as called: a caller without memory or stack may call again.
        op.core.prepareCompletion();
        if (!CALLED.compareAndSet(this, 0, 1)) {
            throw new IllegalStateException(
                    "operation '" + op.name + "' has been completed already: call complete or fail exactly once");
        }
        op.core.complete(op, cause);
    }
}
