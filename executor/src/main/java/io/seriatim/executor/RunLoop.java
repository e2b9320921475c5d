package io.seriatim.executor;

/** Runs the tasks of a plan, each when all that it waits for have ended. */
interface RunLoop {
    /** Runs all, or throws what the first that fails throws; then nothing of the run goes on. */
    void run(Frame frame);

    /** In the order of the program, on the caller's thread. */
    final class Serial implements RunLoop {
        @Override
        public void run(Frame frame) {
            TaskRunner runner = new TaskRunner(frame);
            int count = frame.plan().tasks().size();
            for (int i = 0; i < count; i++) {
                runner.run(i);
            }
        }
    }
}
