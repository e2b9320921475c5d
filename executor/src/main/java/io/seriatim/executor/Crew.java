package io.seriatim.executor;

import io.seriatim.engine.Engine;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Several threads on one run: the caller's, and workers of an engine's compute lane that come to help.
 *
 * <p>
 * A task is ready when as many of those that it waits for have ended as the plan says; whoever brings the count to 0 has it. A thread goes on with the most urgent one that it has made ready and puts the
 * others into a queue, from which idle threads take the most urgent: that with the longest way to the end. A task of a device counts as ended for tasks of devices when it is launched, since events order
 * these; for tasks of the host when its event says so. The first failure ends the run; others are suppressed in it.
 *
 * <p>
 * A helper may come late, when all is done: it enters by raising {@code inside}, which the caller sets to {@link #CLOSED} when it is 0 at the end. So the caller waits only for those that are in, and one
 * that finds it closed goes away without touching the run.
 */
final class Crew implements RunLoop {
    private static final int CLOSED = Integer.MIN_VALUE;
    private static final int SPINS = 2_000;
    private static final long PAUSE_NANOS = 20_000;

    private final Specialisation plan;
    private final Urgency urgency;
    private final Engine engine;
    private final int threads;

    Crew(Specialisation plan, Urgency urgency, Engine engine, int threads) {
        this.plan = plan;
        this.urgency = urgency;
        this.engine = engine;
        this.threads = threads;
    }

    @Override
    public void run(Frame frame) {
        new Run(frame).lead();
    }

    private final class Run {
        private final Frame frame;
        private final AtomicIntegerArray waiting = new AtomicIntegerArray(plan.before().length);
        private final ReadyTasks ready = new ReadyTasks(urgency);
        private final AtomicInteger left = new AtomicInteger(plan.before().length);
        private final AtomicInteger inside = new AtomicInteger();
        private final Thread leader = Thread.currentThread();
        private volatile @Nullable RuntimeException failure;

        Run(Frame frame) {
            this.frame = frame;
            for (int i = 0; i < waiting.length(); i++) {
                int count = plan.before()[i].length;
                waiting.setPlain(i, count);
                if (count == 0) {
                    ready.put(i);
                }
            }
        }

        void lead() {
            int helpers = Math.min(threads, waiting.length()) - 1;
            for (int i = 0; i < helpers; i++) {
                engine.op("help with a plan").recorded(false).push(this::help);
            }
            work();
            while (!inside.compareAndSet(0, CLOSED)) {
                Thread.onSpinWait();
            }
            RuntimeException thrown = failure;
            if (thrown != null) {
                throw thrown;
            }
        }

        private void help() {
            int seen = inside.get();
            while (seen >= 0 && !inside.compareAndSet(seen, seen + 1)) {
                seen = inside.get();
            }
            if (seen >= 0) {
                try {
                    work();
                } finally {
                    inside.decrementAndGet();
                }
            }
        }

        private void work() {
            TaskRunner runner = new TaskRunner(frame);
            Thread thread = Thread.currentThread();
            int idle = 0;
            while (left.get() > 0 && failure == null) {
                int next = ready.take();
                if (next >= 0) {
                    idle = 0;
                    chain(runner, next);
                } else if (++idle < SPINS) {
                    Thread.onSpinWait();
                } else if (thread.equals(leader) && thread.isInterrupted()) {
                    // Helpers are not interrupted, but what they do is for this thread.
                    fail(TaskRunner.interrupted(plan, plan.tasks().size() - 1));
                } else {
                    LockSupport.parkNanos(this, PAUSE_NANOS);
                }
            }
        }

        private synchronized void fail(RuntimeException thrown) {
            RuntimeException first = failure;
            frame.context().cancellation().cancel();
            if (first == null) {
                failure = thrown;
            } else if (!first.equals(thrown) && !(thrown instanceof Cancellation.Signal)) {
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
                left.decrementAndGet();
                current = next;
            }
        }

        /** Keeps the more urgent of two; the other goes into the queue. */
        private int urgent(int kept, int other) {
            if (kept < 0) {
                return other;
            }
            boolean exchanged = urgency.of(other) > urgency.of(kept);
            ready.put(exchanged ? kept : other);
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
                ready.put(task);
            }
        }
    }
}
