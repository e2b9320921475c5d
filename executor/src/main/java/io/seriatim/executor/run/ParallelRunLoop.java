package io.seriatim.executor.run;

import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.executor.schedule.CriticalPaths;
import io.seriatim.executor.schedule.Tiling;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Runs the tasks of one run on several threads: the calling thread and helpers.
 *
 * <p>
 * A count for each task states how many of its dependencies have not ended. The thread that decrements it to 0 owns the
 * ready task. A thread continues with the most urgent task that it has made ready and puts the others into a queue,
 * from which idle threads take the most urgent task: the task with the lowest {@code scheduling_priority}, and among
 * equals the task with the longest path to the end. For dependants on devices, a task of a device counts as ended when
 * it is launched, since events order them. For dependants on the host, it counts as ended when its event completes. The
 * first failure ends the run; other failures are added to it as suppressed exceptions.
 *
 * <p>
 * A helper enters the run by incrementing {@code inside} and leaves it by decrementing. At the end, the caller changes
 * {@code inside} from 0 to {@link #CLOSED} by a CAS. So the caller waits only for helpers that have entered, and a
 * helper that reads {@code CLOSED} leaves without accessing the run. This also holds if the run fails: an error on any
 * thread becomes the failure of the run, after which all threads leave. The state of a run is kept with its frame and
 * reused by the next run. A late helper may enter that next run instead, which is harmless.
 *
 * <p>
 * If a run fails after some tasks of a {@linkplain Tiling#together group} have run, the caller runs the other tasks of
 * the group, so that no variable that outlives the run is partly updated.
 */
public final class ParallelRunLoop implements RunLoop {
    private static final int CLOSED = Integer.MIN_VALUE;
    /** The time for which the caller spins while it waits for the last helper to leave. */
    private static final long LEAVE_NANOS = 50_000;
    private static final int DONE = -1;
    private static final int NO_CALL = -1;

    private final CompiledPlan plan;
    private final CriticalPaths criticalPaths;
    private final HelperPool helpers;
    private final int threads;
    private final int[] together;

    public ParallelRunLoop(CompiledPlan plan, CriticalPaths criticalPaths, HelperPool helpers, int threads) {
        this.plan = plan;
        this.criticalPaths = criticalPaths;
        this.helpers = helpers;
        this.threads = threads;
        this.together = Tiling.together(plan.tasks(), plan.values());
    }

    @Override
    public void run(Frame frame) {
        Run run = frame.run();
        if (run == null || !plan.streams().isHostOnly()) {
            // Callbacks of device events from an earlier, failed run must not affect this run.
            run = new Run(frame);
            frame.run(run);
        }
        run.lead();
    }

    /** Rethrows an unchecked exception or error as it is. {@link TaskRunner} has already wrapped checked exceptions. */
    private static RuntimeException rethrown(Throwable thrown) {
        if (thrown instanceof Error error) {
            throw error;
        }
        return thrown instanceof RuntimeException e
                ? e
                : new IllegalStateException("A run has failed: " + thrown, thrown);
    }

    /** The state of a run, which is reused for all runs with the same frame. */
    final class Run {
        private final Frame frame;
        private final AtomicIntegerArray waiting = new AtomicIntegerArray(plan.before().length);
        private final ReadyTasks ready = new ReadyTasks(criticalPaths, plan.before().length);
        private final AtomicInteger left = new AtomicInteger();
        private final AtomicInteger inside = new AtomicInteger(CLOSED);
        private volatile @Nullable Throwable failure;
        /**
         * The calling thread while it is parked or about to park. It sets this field before it checks its condition for
         * the last time. A thread that changes the condition reads the field afterwards and unparks the caller, so no
         * wake-up is lost.
         */
        private volatile @Nullable Thread sleeper;

        Run(Frame frame) {
            this.frame = frame;
        }

        void lead() {
            begin();
            // Allocated first, so that the wait for helpers cannot fail for lack of memory.
            SpinBackoff patience = new SpinBackoff();
            int call = NO_CALL;
            try {
                call = helpers.call(this, wanted());
                work(Thread.currentThread());
            } catch (Throwable e) {
                // Errors are caught too: the caller must wait for the helpers before another run uses the frame.
                fail(e);
            } finally {
                helpers.end(call);
                if (!inside.compareAndSet(0, CLOSED)) {
                    awaitHelpers(patience);
                }
            }
            Throwable thrown = failure;
            if (thrown != null) {
                complete(thrown);
                throw rethrown(thrown);
            }
        }

        private int wanted() {
            return Math.min(threads, waiting.length()) - 1;
        }

        /**
         * Waits for helpers that still run a task, which may take long after a failure. The wait is uninterruptible,
         * because these helpers use the frame.
         */
        private void awaitHelpers(SpinBackoff patience) {
            boolean interrupted = false;
            while (!inside.compareAndSet(0, CLOSED)) {
                if (patience.isLost(LEAVE_NANOS)) {
                    sleeper = Thread.currentThread();
                    if (inside.get() != 0) {
                        LockSupport.park(this);
                    }
                    sleeper = null;
                    interrupted |= Thread.interrupted();
                }
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }

        private void wake() {
            Thread thread = sleeper;
            if (thread != null) {
                LockSupport.unpark(thread);
            }
        }

        /** Queues a ready task with which the current thread does not continue. */
        private void put(int task) {
            ready.put(task);
            wake();
            helpers.rouse(wanted());
        }

        /** Returns whether the queue contains a ready task. */
        boolean isWorkLeft() {
            return !ready.isEmpty() && failure == null;
        }

        private void begin() {
            ready.clear();
            for (int i = 0; i < waiting.length(); i++) {
                int count = plan.before()[i].length;
                waiting.setPlain(i, count);
                if (count == 0) {
                    ready.put(i);
                }
            }
            left.set(waiting.length());
            failure = null;
            inside.set(0);
        }

        private void complete(Throwable thrown) {
            for (int i = 0; i < together.length; i++) {
                if (waiting.get(i) != DONE && isBegun(together[i])) {
                    TaskRunner.complete(frame, i, thrown);
                }
            }
        }

        /** Returns whether any task has run of the group that starts at {@code first}. */
        private boolean isBegun(int first) {
            for (int i = first; i < together.length && together[i] == first; i++) {
                if (waiting.get(i) == DONE) {
                    return true;
                }
            }
            return false;
        }

        /** Runs ready tasks until there are none. Returns whether it ran any. */
        boolean help() {
            if (ready.isEmpty()) {
                return false;
            }
            int seen = inside.get();
            while (seen >= 0 && !inside.compareAndSet(seen, seen + 1)) {
                seen = inside.get();
            }
            if (seen < 0) {
                return false;
            }
            boolean helped = false;
            try {
                TaskRunner runner = new TaskRunner(frame);
                for (int next = ready.take(); next >= 0 && failure == null; next = ready.take()) {
                    chain(runner, next);
                    helped = true;
                }
            } catch (Throwable e) {
                // chain() handles the failures of tasks. This is an OutOfMemoryError or StackOverflowError outside of a
                // task; the caller still waits for the task that this thread took.
                fail(e);
            } finally {
                if (inside.decrementAndGet() == 0) {
                    wake();
                }
            }
            return helped;
        }

        private void work(Thread leader) {
            TaskRunner runner = new TaskRunner(frame);
            SpinBackoff patience = new SpinBackoff();
            while (left.get() > 0 && failure == null) {
                int next = ready.take();
                if (next >= 0) {
                    patience.restore();
                    chain(runner, next);
                } else if (patience.isLost(SpinBackoff.IN_RUN_NANOS)) {
                    // An interrupt of the calling thread cancels the whole run, including the tasks of helpers.
                    if (leader.isInterrupted()) {
                        fail(TaskRunner.interrupted(plan, plan.tasks().size() - 1));
                    } else {
                        sleeper = leader;
                        if (ready.isEmpty() && left.get() > 0 && failure == null) {
                            LockSupport.park(this);
                        }
                        sleeper = null;
                    }
                }
            }
        }

        private void fail(Throwable thrown) {
            try {
                keep(thrown);
            } finally {
                wake();
            }
        }

        private synchronized void keep(Throwable thrown) {
            Throwable first = failure;
            if (first == null) {
                // Set before any call that may itself fail: all other threads stop when they read it.
                failure = thrown;
            }
            frame.context().cancellation().cancel();
            if (first != null && !first.equals(thrown) && !(thrown instanceof Cancellation.Signal)) {
                first.addSuppressed(thrown);
            }
        }

        private void chain(TaskRunner runner, int first) {
            int current = first;
            while (current >= 0 && failure == null) {
                try {
                    runner.run(current);
                } catch (RuntimeException e) {
                    fail(Objects.requireNonNull(e));
                    return;
                }
                waiting.setRelease(current, DONE);
                int next = -1;
                boolean launched = frame.isOnDevice(current);
                for (int successor : plan.after()[current]) {
                    if (launched && !frame.isOnDevice(successor)) {
                        continue;
                    }
                    if (waiting.decrementAndGet(successor) == 0) {
                        next = urgent(next, successor);
                    }
                }
                if (launched) {
                    releaseHost(current);
                }
                if (left.decrementAndGet() == 0) {
                    wake();
                }
                current = next < 0 || ready.isEmpty() ? next : ready.exchange(next);
            }
        }

        /** Returns the more urgent of two ready tasks and queues the other. */
        private int urgent(int kept, int other) {
            if (kept < 0) {
                return other;
            }
            boolean exchanged = criticalPaths.isBefore(other, kept);
            put(exchanged ? kept : other);
            return exchanged ? other : kept;
        }

        /** Counts down the dependants on the host when the event of a launched task completes. */
        private void releaseHost(int launched) {
            for (int successor : plan.after()[launched]) {
                if (!frame.isOnDevice(successor)) {
                    // No event is recorded if another wait implies this one.
                    if (plan.streams().recorded()[launched]) {
                        frame.queues().event(launched).onDone(_ -> arrived(successor));
                    } else {
                        arrived(successor);
                    }
                }
            }
        }

        private void arrived(int task) {
            if (waiting.decrementAndGet(task) == 0) {
                put(task);
            }
        }
    }
}
