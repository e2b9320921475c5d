package io.seriatim.engine;

import org.jspecify.annotations.Nullable;

/**
 * Does for the first time what a worker does between two changes of state, while not a byte is left; run in a JVM of
 * its own.
 */
public final class FullHeapProgram {
    private FullHeapProgram() {
    }

    /** Ends with the number of the first step that had no memory. */
    public static void main(String[] args) {
        EngineCore core = ((EngineBuilder) Engine.builder().pooled(1)).buildCore();
        Operation op = new Operation(core, "op");
        Batch batch = new Batch(0);
        Counts counts = new Counts(0);
        // What follows is loaded now: only the places at which it is called for the first time are to be new.
        int step = run(op, batch, counts, fill());
        System.out.println(step == 0 ? "whole" : "no memory at step " + step);
    }

    /** All the memory there is. */
    private static @Nullable Object fill() {
        Object[] last = {null};
        try {
            while (true) {
                last = new Object[]{last};
            }
        } catch (OutOfMemoryError e) {
            return last;
        }
    }

    private static int run(Operation op, Batch batch, Counts counts, @Nullable Object memory) {
        int step = 1;
        try {
            batch.put(0, op);
            step++;
            batch.publish(1);
            step++;
            Operation claimed = batch.claim();
            step++;
            batch.finish(null);
            step++;
            batch.isStuck(1);
            step++;
            batch.takeBack();
            step++;
            counts.complete();
            step++;
            counts.completed();
            return claimed == op && memory != null ? 0 : -1;
        } catch (OutOfMemoryError e) {
            return step;
        }
    }
}
