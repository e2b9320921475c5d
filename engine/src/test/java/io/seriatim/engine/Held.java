package io.seriatim.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** An asynchronous operation that a test keeps open: it holds its variables, but no worker. */
final class Held {
    private final CompletableFuture<Completion> started = new CompletableFuture<>();

    /** Pushes an operation that ends when the test completes it. */
    static Held push(OpBuilder op) {
        Held held = new Held();
        held.pushed(op);
        return held;
    }

    /** Pushes the operation; where a push waits for its operation, this returns when the test has ended it. */
    void pushed(OpBuilder op) {
        op.pushAsync(started::complete);
    }

    Held untilStarted() throws Exception {
        started.get(60, TimeUnit.SECONDS);
        return this;
    }

    boolean isStarted() {
        return started.isDone();
    }

    /** Completes the operation now, or as soon as it starts. */
    void release() {
        whenStarted(Completion::complete);
    }

    void fail(Throwable cause) {
        whenStarted(done -> done.fail(cause));
    }

    private void whenStarted(Consumer<Completion> end) {
        CompletableFuture<Void> ended = started.thenAccept(end);
        if (ended.isDone()) {
            ended.join();
        }
    }
}
