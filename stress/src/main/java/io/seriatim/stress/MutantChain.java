package io.seriatim.stress;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** One variable's chain of mutations, wrong on purpose: 'is it free?' and 'take it' are two steps. */
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
