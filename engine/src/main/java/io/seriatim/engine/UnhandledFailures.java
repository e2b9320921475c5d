package io.seriatim.engine;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** Passes failures that have no other observer to the user's handler or, if the handler fails, to the system log. */
final class UnhandledFailures {
    private final String engine;
    private final Consumer<? super Throwable> handler;
    /** The number of failures that could be passed to neither the handler nor the log. */
    private final AtomicInteger untold = new AtomicInteger();

    UnhandledFailures(String engine, Consumer<? super Throwable> handler) {
        this.engine = engine;
        this.handler = handler;
    }

    /** Writes a failure to the system log. This is the default handler, and the fallback if a handler fails. */
    static void log(String engine, Throwable t) {
        System.getLogger(Engine.class.getName()).log(System.Logger.Level.ERROR,
                "engine '" + engine + "': a failure that nobody observed",
                t);
    }

    /** Calls a callback and passes its exception to the handler, because it is not the failure of an operation. */
    void guard(Callback callback) {
        boolean aside = Thread.interrupted();
        try {
            callback.call();
        } catch (Throwable t) {
            tell(t);
        } finally {
            ThreadState.endCallback(aside);
        }
    }

    /** Passes a failure to the handler. Never throws, because the callers must go on. */
    @SuppressWarnings("ReferenceEquality") // A throwable cannot suppress itself.
    void tell(Throwable t) {
        try {
            boolean aside = Thread.interrupted();
            try {
                handler.accept(t);
                int lost = untold.getAndSet(0);
                if (lost > 0) {
                    log(engine, new IllegalStateException(
                            lost + " earlier failures could not be reported, for lack of memory or stack"));
                }
            } catch (Throwable second) {
                if (second != t) {
                    second.addSuppressed(t);
                }
                log(engine, second);
            } finally {
                ThreadState.endCallback(aside);
            }
        } catch (Throwable third) {
            // Neither the handler nor the log could be called, for lack of memory or stack.
            untold.incrementAndGet();
        }
    }

    /** Counts a failure that cannot be reported now. */
    void countUntold() {
        untold.incrementAndGet();
    }
}
