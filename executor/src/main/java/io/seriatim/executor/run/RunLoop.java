package io.seriatim.executor.run;

import io.seriatim.executor.schedule.Tiling;

/** Runs the tasks of a plan, each when all that it waits for have ended. */
public interface RunLoop {
    /** Runs all, or throws what the first that fails throws; then nothing of the run goes on. */
    void run(Frame frame);

    /** In the order of the program, on the caller's thread. */
    final class Serial implements RunLoop {
        @Override
        public void run(Frame frame) {
            TaskRunner runner = new TaskRunner(frame);
            int count = frame.plan().tasks().size();
            int next = 0;
            try {
                while (next < count) {
                    runner.run(next);
                    next++;
                }
            } catch (RuntimeException | Error e) {
                completeFrom(next, frame, e);
                throw e;
            }
        }

        /** What belongs to a task that has run is run although this one failed. */
        private static void completeFrom(int failed, Frame frame, Throwable thrown) {
            int[] together = Tiling.together(frame.plan().tasks(), frame.plan().values());
            for (int i = failed; together[failed] != failed && i < together.length
                    && together[i] == together[failed]; i++) {
                TaskRunner.complete(frame, i, thrown);
            }
        }
    }
}
