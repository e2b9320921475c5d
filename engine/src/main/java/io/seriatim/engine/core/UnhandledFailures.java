package io.seriatim.engine.core;

import io.seriatim.engine.Engine;
import io.seriatim.engine.dependency.Callback;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** Passes failures that nobody else observes to the user's handler, or, if that fails, to the log. */
public final class UnhandledFailures {
    private final String engine;
    private final Consumer<? super Throwable> handler;
    /** Failures that neither the handler nor the log could be told of. */
    private final AtomicInteger untold = new AtomicInteger();

    UnhandledFailures(String engine, Consumer<? super Throwable> handler) {
        this.engine = engine;
        this.handler = handler;
    }

    /** Writes a failure to the log: the last resort, and the default handler. */
    public static void log(String engine, Throwable t) {
        System.getLogger(Engine.class.getName()).log(System.Logger.Level.ERROR,
                "engine '" + engine + "': a failure that no one observed",
                t);
    }

    /** Calls a callback; a failure of it belongs to no operation. */
    void guard(Callback callback) {
        try {
            callback.call();
        } catch (Throwable t) {
            tell(t);
        }
    }

    /** Tells the handler; throws nothing, because its callers have other work to do. */
    @SuppressWarnings("ReferenceEquality") // A throwable cannot suppress itself.
    void tell(Throwable t) {
        try {
            try {
                handler.accept(t);
                int lost = untold.getAndSet(0);
                if (lost > 0) {
                    log(engine, new IllegalStateException(
                            lost + " earlier failures could not be reported, for want of memory or stack"));
                }
            } catch (Throwable second) {
                if (second != t) {
                    second.addSuppressed(t);
                }
                log(engine, second);
            }
        } catch (Throwable third) {
            // Neither the handler nor the log could be told, for want of memory or stack.
            untold.incrementAndGet();
        }
    }

    /** Counts a failure that cannot be told now. */
    void countUntold() {
        untold.incrementAndGet();
    }
}
