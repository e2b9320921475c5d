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
 * Several threads on one run: the caller's, and helpers.
 *
 * <p>
 * A task is ready when as many of those that it waits for have ended as the plan says; whoever brings the count to 0
 * has it. A thread goes on with the most urgent one that it has made ready and puts the others into a queue, from which
 * idle threads take the most urgent: that with the lowest priority, and of these that with the longest way to the end.
 * A task of a device counts as ended for tasks of devices when it is launched, since events order these; for tasks of
 * the host when its event says so. The first failure ends the run; others are suppressed in it.
 *
 * <p>
 * A helper is inside of the run while it has a task: it enters by raising {@code inside}, which the caller sets to
 * {@link #CLOSED} when it is 0 at the end. So the caller waits only for those that are in, and one that finds it closed
 * goes away without touching the run. That holds however the run ends: an error on any of the threads is the run's
 * failure, after which all leave. What a run needs is kept with its frame and used again by the next; a helper that
 * comes so late that it enters that one is as welcome there.
 *
 * <p>
 * If a run fails when some of the tasks have run that {@linkplain Tiling#together belong together}, the caller runs the
 * others: nothing that outlives the run is left half changed.
 */
public final class ParallelRunLoop implements RunLoop {
    private static final int CLOSED = Integer.MIN_VALUE;
    /** How long the caller looks without pause whether the last helper has left. */
    private static final long LEAVE_NANOS = 50_000;
    private static final int DONE = -1;
    private static final int NO_CALL = -1;

    private final CompiledPlan plan;
    private final CriticalPaths urgency;
    private final HelperPool helpers;
    private final int threads;
    private final int[] together;

    public ParallelRunLoop(CompiledPlan plan, CriticalPaths urgency, HelperPool helpers, int threads) {
        this.plan = plan;
        this.urgency = urgency;
        this.helpers = helpers;
        this.threads = threads;
        this.together = Tiling.together(plan.tasks(), plan.values());
    }

    @Override
    public void run(Frame frame) {
        Run run = frame.run();
        if (run == null || !plan.streams().isHostOnly()) {
            // What devices say of an earlier run that has failed must not reach this one.
            run = new Run(frame);
            frame.run(run);
        }
        run.lead();
    }

    /** What was thrown, as it was. Only a task throws what is checked, which its runner has wrapped. */
    private static RuntimeException rethrown(Throwable thrown) {
        if (thrown instanceof Error error) {
            throw error;
        }
        return thrown instanceof RuntimeException e
                ? e
                : new IllegalStateException("A run has failed: " + thrown, thrown);
    }

    /** What a run needs; of a frame. */
    final class Run {
        private final Frame frame;
        private final AtomicIntegerArray waiting = new AtomicIntegerArray(plan.before().length);
        private final ReadyTasks ready = new ReadyTasks(urgency, plan.before().length);
        private final AtomicInteger left = new AtomicInteger();
        private final AtomicInteger inside = new AtomicInteger(CLOSED);
        private volatile @Nullable Throwable failure;
        /**
         * The caller, while it sleeps or is about to: set before it looks for the last time. Who changes what it looks
         * at wakes it afterwards.
         */
        private volatile @Nullable Thread sleeper;

        Run(Frame frame) {
            this.frame = frame;
        }

        void lead() {
            begin();
            // What the end needs is there before anything can fail.
            SpinBackoff patience = new SpinBackoff();
            int call = NO_CALL;
            try {
                call = helpers.call(this, wanted());
                work(Thread.currentThread());
            } catch (Throwable e) {
                // Errors too: the helpers stop, and the caller waits for them, before the frame is anyone else's.
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
         * Waits for those that still have a task, which after a failure may take long; uninterruptibly, because they
         * use the frame.
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

        /** Puts a task into the queue that this thread does not go on with. */
        private void put(int task) {
            ready.put(task);
            wake();
            helpers.rouse(wanted());
        }

        /** Whether a task is ready that no thread has taken. */
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

        /** Whether a task has run of those that belong together from one on. */
        private boolean isBegun(int first) {
            for (int i = first; i < together.length && together[i] == first; i++) {
                if (waiting.get(i) == DONE) {
                    return true;
                }
            }
            return false;
        }

        /** Does what is ready. Returns whether there was something. */
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
                // A task fails by what it throws in chain; this is a lack of memory or of stack around it. The caller
                // waits for this task.
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
                    // Helpers are not interrupted, but what they do is for this thread.
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
                // Before anything that may fail in its turn: all others stop when they see it.
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

        /** Keeps the more urgent of two; the other goes into the queue. */
        private int urgent(int kept, int other) {
            if (kept < 0) {
                return other;
            }
            boolean exchanged = urgency.isBefore(other, kept);
            put(exchanged ? kept : other);
            return exchanged ? other : kept;
        }

        /** Tasks of the host go on when the device has come that far. */
        private void releaseHost(int launched) {
            for (int successor : plan.after()[launched]) {
                if (!frame.isOnDevice(successor)) {
                    // A wait that another one implies has no event of its own.
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
