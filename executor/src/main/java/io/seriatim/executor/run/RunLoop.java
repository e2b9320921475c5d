package io.seriatim.executor.run;

import io.seriatim.executor.schedule.Tiling;

/** Runs the tasks of a plan. A task runs after all its dependencies have ended. */
public interface RunLoop {
    /**
     * Runs all tasks. If a task fails, throws the first failure; no thread uses the frame after this method returns.
     */
    void run(Frame frame);

    /** Runs tasks in program order on the calling thread. */
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

        /** Runs the rest of the group of a failed task, if earlier tasks of the group have run. */
        private static void completeFrom(int failed, Frame frame, Throwable thrown) {
            int[] together = Tiling.together(frame.plan().tasks(), frame.plan().values());
            for (int i = failed; together[failed] != failed && i < together.length
                    && together[i] == together[failed]; i++) {
                TaskRunner.complete(frame, i, thrown);
            }
        }
    }
}
