package io.seriatim.executor;

import io.seriatim.engine.Engine;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Several threads on one run: the caller's, and workers of an engine's compute lane that come to help.
 *
 * <p>
 * An operation is ready when as many of those that it waits for have ended as {@link Dependencies} says; whoever brings the count to 0 has it. A thread goes on with the most urgent one that it has made ready
 * and puts the others into a queue, from which idle threads take the most urgent: that with the longest way to the end. The first failure closes the queue; others are suppressed in it.
 *
 * <p>
 * A helper may come late, when all is done: it enters by raising {@code inside}, which the caller sets to {@link #CLOSED} when it is 0 at the end. So the caller waits only for those that are in, and one
 * that finds it closed goes away without touching the run.
 */
final class Crew implements RunLoop {
    private static final int CLOSED = Integer.MIN_VALUE;
    private static final int SPINS = 2_000;
    private static final long PAUSE_NANOS = 20_000;

    private final Dependencies dependencies;
    private final int[] urgency;
    private final Engine engine;
    private final int threads;

    Crew(Dependencies dependencies, Engine engine, int threads) {
        this.dependencies = dependencies;
        this.urgency = urgency(dependencies);
        this.engine = engine;
        this.threads = threads;
    }

    /** For each operation how many follow one another from it to the end. */
    private static int[] urgency(Dependencies dependencies) {
        int[] urgency = new int[dependencies.after().length];
        for (int i = urgency.length - 1; i >= 0; i--) {
            for (int successor : dependencies.after()[i]) {
                urgency[i] = Math.max(urgency[i], urgency[successor] + 1);
            }
        }
        return urgency;
    }

    @Override
    public void run(IntConsumer operation) {
        new Run(operation).lead();
    }

    private final class Run {
        private final IntConsumer operation;
        private final AtomicIntegerArray waiting = new AtomicIntegerArray(dependencies.before().length);
        private final PriorityQueue<Integer> ready = new PriorityQueue<>((a, b) -> Integer.compare(urgency[b], urgency[a]));
        private final AtomicInteger left = new AtomicInteger(dependencies.before().length);
        private final AtomicInteger inside = new AtomicInteger();
        private volatile @Nullable Throwable failure;

        Run(IntConsumer operation) {
            this.operation = operation;
            for (int i = 0; i < waiting.length(); i++) {
                int count = dependencies.before()[i].length;
                waiting.setPlain(i, count);
                if (count == 0) {
                    ready.add(i);
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
            Throwable thrown = failure;
            if (thrown instanceof RuntimeException e) {
                throw e;
            }
            if (thrown instanceof Error e) {
                throw e;
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
            int idle = 0;
            while (left.get() > 0 && failure == null) {
                int next = take();
                if (next >= 0) {
                    idle = 0;
                    chain(next);
                } else if (++idle < SPINS) {
                    Thread.onSpinWait();
                } else {
                    LockSupport.parkNanos(this, PAUSE_NANOS);
                }
            }
        }

        private synchronized int take() {
            Integer next = ready.poll();
            return next == null ? -1 : next;
        }

        private synchronized void put(int index) {
            ready.add(index);
        }

        private synchronized void fail(Throwable thrown) {
            Throwable first = failure;
            if (first == null) {
                failure = thrown;
            } else if (first != thrown) {
                first.addSuppressed(thrown);
            }
        }

        private void chain(int first) {
            int current = first;
            while (current >= 0 && failure == null) {
                try {
                    operation.accept(current);
                } catch (RuntimeException | Error e) {
                    fail(Objects.requireNonNull(e));
                    return;
                }
                int next = -1;
                for (int successor : dependencies.after()[current]) {
                    if (waiting.decrementAndGet(successor) == 0) {
                        if (next < 0) {
                            next = successor;
                        } else if (urgency[successor] > urgency[next]) {
                            put(next);
                            next = successor;
                        } else {
                            put(successor);
                        }
                    }
                }
                left.decrementAndGet();
                current = next;
            }
        }
    }
}
