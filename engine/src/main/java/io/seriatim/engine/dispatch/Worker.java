package io.seriatim.engine.dispatch;

import io.seriatim.engine.core.EngineCore;
import io.seriatim.engine.core.LogReader;
import io.seriatim.engine.dependency.Callback;
import io.seriatim.engine.dependency.Operation;
import io.seriatim.engine.queue.ReadyQueue;
import io.seriatim.engine.thread.WorkerStates;
import io.seriatim.engine.thread.WorkerThread;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A thread of a lane: takes a ready operation under the tracker lock, runs it without, and tells its end when it
 * takes the next.
 */
public final class Worker extends WorkerThread {
    private static final long LOOK_AROUND_NANOS = 1_000_000_000;
    private static final long WATCH_NANOS = 50_000;
    /** After an error of its own, so that it does not fail as fast as it can. */
    private static final long PAUSE_NANOS = 1_000_000;
    private static final long SPIN_NANOS = 20_000;
    /** One operation in so many, less one, is timed. */
    private static final int SAMPLED = 15;
    /**
     * With so many operations left in its batch it fetches more if no one else holds the tracker lock, so as not to
     * wait for it later.
     */
    private static final int LOW = 2;
    /** Between looks for work, in turns of a spin loop. */
    private static final int MIN_GAP = 10;
    private static final int MAX_GAP = 160;
    private static final int SOME = 4;
    private static final int MANY = 64;
    private static final VarHandle EXECUTED;

    static {
        try {
            EXECUTED = MethodHandles.lookup().findVarHandle(Worker.class, "executed", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** As {@link #pool}. */
    final WorkerLane lane;
    private final EngineCore core;
    /** Whether it holds the tracker lock already. */
    private boolean entered;
    private int gap = MIN_GAP;
    private long executed;
    /** How often it waits, one within another. */
    private int blocks;
    /** The next of those that sleep, and of those that have left; guarded by the push lock. */
    @Nullable
    Worker nextSleeper;
    @Nullable
    Worker nextLeaving;
    /** What it has run and has not told the tracker, and what that threw. */
    private @Nullable Operation ended;
    private @Nullable Throwable thrown;
    /** What the watcher saw when it looked last; guarded by the push lock. */
    long executedSeen;
    public final Batch batch;
    /** Whether it has gone to run its batch; guarded by the tracker lock. */
    boolean usesBatch;

    /** Guarded by the push lock. */
    boolean searching;
    /**
     * False from when it has joined those that sleep until it is called: while it is, it is to do nothing else, or it
     * would join them twice.
     */
    volatile boolean awake = true;
    /** What it runs, or is about to; guarded by the tracker lock. */
    @Nullable
    public Operation taken;

    Worker(WorkerLane lane, int number) {
        super(lane.dispatcher.core.name + "-" + lane.lane + "-" + number, lane.dispatcher.core, lane, number,
                new WorkerStates(lane.suppliers));
        this.lane = lane;
        core = lane.dispatcher.core;
        batch = new Batch(core.firstIndex);
    }

    /** Starts it, or ends its sleep; under no lock. */
    void call() {
        if (getState() == State.NEW) {
            start();
        } else {
            awake = true;
            LockSupport.unpark(this);
        }
    }

    @Override
    public void run() {
        try {
            boolean going = true;
            while (going && core.broken == null) {
                try {
                    if (awake) {
                        work();
                    }
                    going = sleep();
                } catch (Throwable t) {
                    // Only a defect, or a lack of memory outside a body, comes here; the lane keeps its worker, and
                    // that what it has run.
                    core.unhandled(t);
                    LockSupport.parkNanos(this, PAUSE_NANOS);
                }
            }
        } finally {
            states.close(core);
        }
    }

    /** Runs operations until there are none for it. */
    private void work() {
        int overtaken = 0;
        int burst = 0;
        boolean stays = !lane.isSuperfluous();
        while (true) {
            Operation next = null;
            Callback callback;
            boolean found = false;
            if (!entered) {
                core.lock.enterShallow();
            }
            entered = false;
            try {
                usesBatch = false;
                lane.trackedBy(this);
                core.intake.lookAhead(lane.queue);
                Operation op = ended;
                if (op != null) {
                    core.completions.ran(op, thrown);
                    ended = null;
                    thrown = null;
                } else if (taken != null) {
                    // An error came before it could be run.
                    lane.queue.putBack(taken);
                }
                taken = null;
                lane.batches.harvest();
                callback = core.rules.nextCallback(core);
                if (callback != null || !stays || core.attention.isWanted() || lane.isCrowded()) {
                    lane.batches.takeBack(this);
                }
                if (callback != null) {
                    found = true;
                    if (searching) {
                        lane.dispatcher.found(lane, this);
                    }
                } else if (stays && !core.life.isTerminated() && !lane.isCrowded()) {
                    next = core.intake.next(lane.queue, overtaken);
                    overtaken = overtaken < LogReader.MAX_OVERTAKEN ? overtaken + 1 : 0;
                }
                if (next != null) {
                    taken = next;
                    found = true;
                    if (searching) {
                        lane.dispatcher.found(lane, this);
                    }
                    next = lane.batches.fill(this, next, overtaken);
                }
                taken = next;
                if (next != null) {
                    core.completions.starts(next);
                }
            } finally {
                core.lock.leave();
            }
            if (callback != null) {
                call(callback);
            } else if (next != null) {
                core.rules.beforeRun(core);
                thrown = run(next);
                ended = next;
                burst = Math.min(burst + 1, MANY);
            } else {
                int ran = runBatch();
                found |= ran > 0;
                burst = Math.min(burst + ran, MANY);
            }
            if (found) {
                stays = !lane.isSuperfluous();
            } else {
                if (!stays || core.life.isTerminated() || lane.isCrowded() || !awaitWork(burst)) {
                    return;
                }
                burst = 0;
            }
        }
    }

    /** Runs its batch until that is empty, or attention is wanted; returns how many. */
    private int runBatch() {
        int ran = 0;
        Operation op;
        while ((op = batch.claim()) != null) {
            batch.finish(run(op));
            ran++;
            if (core.attention.isWanted()) {
                break;
            }
            if (batch.waiting() <= (lane.isTrackedBy(this) ? LOW : 0) && core.lock.tryEnter()) {
                entered = true;
                break;
            }
        }
        return ran;
    }

    /**
     * Calls the user's code. This worker holds nothing then that another could run, and if such calls take long here,
     * or nothing is known of them, another may take its place meanwhile, as if this one waited.
     */
    private void call(Callback callback) {
        boolean mayBlock = callback.mayBlock();
        boolean aside = mayBlock && !lane.callbackPace.isShort();
        if (aside) {
            block();
        }
        long began = mayBlock ? System.nanoTime() : 0;
        try {
            core.guard(callback);
        } finally {
            interrupted();
            if (mayBlock) {
                lane.callbackPace.sample(System.nanoTime() - began);
            }
            if (aside) {
                unblock();
            }
        }
    }

    private @Nullable Throwable run(Operation op) {
        Throwable thrown;
        if ((executed & SAMPLED) == 0) {
            long began = System.nanoTime();
            thrown = place.run(op, number);
            lane.pace.sample(System.nanoTime() - began);
        } else {
            thrown = place.run(op, number);
        }
        interrupted();
        executed++;
        return thrown;
    }

    /**
     * Spins for a while until there seems to be work.
     *
     * @param burst
     *            how many operations were run since the last time. A few, but more than one, means that another thread
     *            pushes at this moment: to look for each operation as it comes would cost both of them a cache line
     *            each time, so this looks away until there are some.
     */
    private boolean awaitWork(int burst) {
        if (burst >= SOME && burst < MANY) {
            gap = Math.min(gap * 2, MAX_GAP);
        } else if (burst < SOME) {
            gap = MIN_GAP;
        }
        long until = System.nanoTime() + SPIN_NANOS;
        do {
            for (int i = 0; i < gap; i++) {
                onSpinWait();
            }
            if (core.intake.seemsPushed() || !lane.queue.isEmpty()) {
                return true;
            }
        } while (System.nanoTime() - until < 0);
        return false;
    }

    /**
     * Sleeps until called; goes on sleeping if an error came while it slept. Returns false when the thread is to end.
     */
    private boolean sleep() {
        if (awake) {
            core.lock.enterShallow();
            try {
                if (!lane.dispatcher.sleep(lane, this)) {
                    if (core.life.isTerminated()) {
                        lane.dispatcher.dismissAwake(lane, this);
                        return false;
                    }
                    return true;
                }
            } finally {
                core.lock.leave();
            }
        }
        long looked = System.nanoTime();
        while (!awake) {
            boolean watching = lane.isWatched(this);
            LockSupport.parkNanos(this, watching ? WATCH_NANOS : LOOK_AROUND_NANOS);
            interrupted();
            if (awake) {
                break;
            }
            if (core.broken != null) {
                return false;
            }
            if (watching) {
                long now = System.nanoTime();
                if (lane.dispatcher.watch(lane, this, now - looked)) {
                    awake = true;
                }
                looked = now;
            }
            if (!awake && lane.dispatcher.dismiss(lane, this)) {
                return false;
            }
        }
        return true;
    }

    public ReadyQueue queue() {
        return lane.queue;
    }

    /** Operations that it has run; others may look. */
    long executed() {
        return (long) EXECUTED.getOpaque(this);
    }

    /** This thread is about to wait for something that may need its lane: another worker may take its place. */
    @Override
    public void block() {
        if (blocks == 0) {
            lane.dispatcher.blocked(lane, this);
        }
        blocks++;
    }

    @Override
    public void unblock() {
        if (--blocks == 0) {
            lane.dispatcher.unblocked(lane);
        }
    }
}
