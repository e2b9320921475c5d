package io.seriatim.engine;

import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;

/** The completion of one started operation; the first call counts. */
final class AsyncCompletion extends AtomicBoolean implements Completion {
    private static final long serialVersionUID = 1L;

    private final transient Operation op;

    private AsyncCompletion(Operation op) {
        this.op = op;
    }

    /** Starts an asynchronous body. A throw before its completion is its failure; one after it is no one's. */
    static void start(Operation op, AsyncBody body) {
        AsyncCompletion done = new AsyncCompletion(op);
        try {
            body.start(done);
        } catch (Throwable t) {
            if (done.compareAndSet(false, true)) {
                op.core.complete(op, t);
            } else {
                op.core.unhandled(t);
            }
        }
    }

    @Override
    public void complete() {
        once();
        op.core.complete(op, null);
    }

    @Override
    public void fail(Throwable cause) {
        Objects.requireNonNull(cause, "cause");
        once();
        op.core.complete(op, cause);
    }

    private void once() {
        if (!compareAndSet(false, true)) {
            throw new IllegalStateException("operation '" + op.name + "' has been completed already: call complete or fail exactly once");
        }
    }
}
