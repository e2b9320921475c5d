package io.seriatim.executor.run;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import java.io.Serial;
import java.util.HashSet;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * Tells all threads of a run, including those that run plans of its blocks, to begin no further task: because the run
 * has failed on one of them, or because its caller has stopped it.
 *
 * <p>
 * A stop also interrupts the threads that wait on behalf of the run, for the scope or for a batch. A thread registers
 * before it waits; if the run was stopped before, the registration interrupts it. When it has ended the wait, it clears
 * the interrupt that a stop has set, under the same lock, so that the interrupt reaches no later code.
 */
public final class Cancellation {
    private volatile boolean cancelled;
    private volatile @Nullable Stop stop;
    @GuardedBy("this")
    private final Set<Thread> waiting = new HashSet<>();
    @GuardedBy("this")
    private final Set<Thread> interrupted = new HashSet<>();
    /** By block, how often the run has begun it since it last began the enclosing block; null if it is not counted. */
    private final @Nullable Map<Integer, Integer> begun;
    /** By block, the blocks directly inside of it that are counted. */
    private final Map<Integer, Queue<Integer>> begunInside = new ConcurrentHashMap<>();

    /**
     * Why the caller stops a run.
     *
     * @param isTimeout
     *            whether its time was over
     * @param message
     *            what has happened
     * @param cause
     *            the failure of the stage that stops the run, if it has failed
     */
    public record Stop(boolean isTimeout, String message, @Nullable Throwable cause) {
    }

    /**
     * Thrown by a thread of a run that has failed on another thread. The caller receives that thread's failure instead.
     */
    static final class Signal extends RuntimeException {
        @Serial
        private static final long serialVersionUID = 1;

        Signal() {
            super("The run has failed on another thread", null, false, false);
        }
    }

    /** Thrown by the threads of a run that its caller has stopped. */
    public static final class Stopped extends RuntimeException {
        @Serial
        private static final long serialVersionUID = 1;

        private final boolean isTimeout;

        Stopped(Stop stop, String where) {
            super(stop.message() + " " + where + "; no variable is partly updated", stop.cause(), false, false);
            this.isTimeout = stop.isTimeout();
        }

        /** Returns whether the time of the run was over. */
        public boolean isTimeout() {
            return isTimeout;
        }
    }

    /** A wait on behalf of a run. */
    public interface Wait<T, E extends Exception> {
        /** Waits; an interrupt ends it. */
        T await() throws E;
    }

    /** Creates the cancellation of a run that only a failure cancels. */
    public Cancellation() {
        this(false);
    }

    /**
     * Creates the cancellation of a run.
     *
     * @param isStoppable
     *            whether its caller may stop it
     */
    public Cancellation(boolean isStoppable) {
        this.begun = isStoppable ? new ConcurrentHashMap<>() : null;
    }

    void cancel() {
        cancelled = true;
    }

    boolean isCancelled() {
        return cancelled;
    }

    /** Returns whether the caller has stopped the run. */
    public boolean isStopped() {
        return stop != null;
    }

    /** Stops the run. The first reason counts. */
    public synchronized void stop(Stop reason) {
        if (stop == null) {
            stop = reason;
            cancelled = true;
            waiting.forEach(this::interrupt);
        }
    }

    private synchronized void interrupt(Thread thread) {
        if (interrupted.add(thread)) {
            thread.interrupt();
        }
    }

    /**
     * Waits in a way that a stop ends.
     *
     * @throws Stopped
     *             if the run was stopped and the wait has ended with an exception
     */
    public <T, E extends Exception> T waiting(Wait<T, E> wait) throws E {
        if (begun == null) {
            return wait.await();
        }
        Thread thread = Thread.currentThread();
        synchronized (this) {
            waiting.add(thread);
            if (stop != null) {
                interrupt(thread);
            }
        }
        try {
            return wait.await();
        } catch (Exception e) {
            Stop reason = stop;
            if (reason != null) {
                throw new Stopped(reason, "before its first operation");
            }
            throw e;
        } finally {
            synchronized (this) {
                waiting.remove(thread);
                if (interrupted.remove(thread)) {
                    Thread.interrupted();
                }
            }
        }
    }

    /** Notes that the run begins a block, of a loop for example. */
    public void begin(Block block) {
        Map<Integer, Integer> counts = begun;
        if (counts == null) {
            return;
        }
        Stop reason = stop;
        if (reason != null) {
            throw new Stopped(reason, where(block));
        }
        Queue<Integer> inside = begunInside.remove(block.index());
        if (inside != null) {
            inside.forEach(counts::remove);
        }
        if (counts.merge(block.index(), 1, Integer::sum) == 1) {
            begunInside.computeIfAbsent(block.parent(), _ -> new ConcurrentLinkedQueue<>()).add(block.index());
        }
    }

    /** Returns the exception that ends a cancelled run before a task of the block. */
    RuntimeException ending(Block block, String task) {
        Stop reason = stop;
        return reason == null ? new Signal() : new Stopped(reason, "before " + task + where(block));
    }

    /** Describes the loops that run the block, the innermost first. */
    private String where(Block block) {
        StringBuilder text = new StringBuilder();
        Program program = block.program();
        for (Block inner = block; inner.parent() >= 0; inner = program.block(inner.parent())) {
            int iteration = begun == null ? 0 : begun.getOrDefault(inner.index(), 0);
            Block outer = program.block(inner.parent());
            for (int i = 0; i < outer.ops().size(); i++) {
                OpDesc op = outer.ops().get(i);
                int index = inner.index();
                if (op.attributes().stream().anyMatch(each -> each.value().blocks().contains(index))) {
                    text.append(" in iteration ").append(iteration).append(" of operation ").append(i).append(" (")
                            .append(op.type()).append(condition(op)).append(")");
                }
            }
        }
        return text.toString();
    }

    private static String condition(OpDesc op) {
        return op.input("Condition").isEmpty() ? "" : " '" + op.input("Condition").getFirst() + "'";
    }
}
