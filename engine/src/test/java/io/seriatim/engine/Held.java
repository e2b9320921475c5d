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
        op.pushAsync(done -> held.started.complete(done));
        return held;
    }

    Held untilStarted() throws Exception {
        started.get(60, TimeUnit.SECONDS);
        return this;
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
