package io.seriatim.executor;

import java.util.function.IntConsumer;

/** Runs operations when all that they wait for have ended. */
interface RunLoop {
    /** Runs all, or throws what the first that fails throws. */
    void run(IntConsumer operation);

    /**
     * In the order of the program, on the caller's thread.
     *
     * @param count
     *            how many operations
     */
    record Serial(int count) implements RunLoop {
        @Override
        public void run(IntConsumer operation) {
            for (int i = 0; i < count; i++) {
                operation.accept(i);
            }
        }
    }
}
