package io.seriatim.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** A thread of a test, with its exception. */
final class Task {
    final Thread thread;
    private final CompletableFuture<Void> end = new CompletableFuture<>();

    private Task(String name, Body body) {
        thread = new Thread(() -> {
            try {
                body.run();
                end.complete(null);
            } catch (Throwable t) {
                end.completeExceptionally(t);
            }
        }, name);
        thread.setDaemon(true);
    }

    static Task start(String name, Body body) {
        Task task = new Task(name, body);
        task.thread.start();
        return task;
    }

    boolean isDone() {
        return end.isDone();
    }

    /** Waits until the thread ends, and rethrows its exception. */
    void join() throws Exception {
        end.get(60, TimeUnit.SECONDS);
        thread.join();
    }
}
