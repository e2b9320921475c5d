package io.seriatim.stress;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * A deliberately wrong chain of mutations of one variable: checking whether it is free and taking it are two separate
 * steps.
 */
final class MutantChain {
    private final Queue<Runnable> waiting = new ConcurrentLinkedQueue<>();
    private volatile boolean taken;

    void push(Runnable mutation) {
        waiting.add(mutation);
        if (!taken) {
            taken = true;
            run();
            taken = false;
        }
    }

    private void run() {
        for (Runnable next = waiting.poll(); next != null; next = waiting.poll()) {
            next.run();
        }
    }
}
