package io.seriatim.engine;

import io.seriatim.engine.sync.SpinLock;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A thread of a lane. It takes a ready operation under the tracker lock, runs it without the lock, and reports its end
 * when it takes the next one.
 */
final class Worker extends Thread {
    private static final long WATCH_NANOS = 50_000;
    /** The pause after an error of the worker itself, so that it does not fail in a busy loop. */
    private static final long PAUSE_NANOS = 1_000_000;
    private static final long SPIN_NANOS = 20_000;
    /** A mask of the number of executed operations: one operation in 16 is timed. */
    private static final int SAMPLED = 15;
    /**
     * If at most this many operations are left in its batch, the worker fetches more while the tracker lock is free,
     * instead of waiting for the lock later.
     */
    private static final int LOW = 2;
    /** The range of iterations of a spin loop between two checks for work. */
    private static final int MIN_GAP = 10;
    private static final int MAX_GAP = 160;
    /** How often a worker that has reported polls its batch before it yields. */
    private static final int SPINS = 400;
    /** A mask of the number of polls of the batch: after one in four the worker tries to acquire the tracker lock. */
    private static final int TRIES = 3;
    /** A mask of the number of checks for work: after one in 16 a worker reads the batches of many others. */
    private static final int RARELY = 15;
    private static final int SOME = 4;
    private static final int MANY = 64;
    final WorkerLane lane;
    /** The engine that owns the thread. */
    final EngineCore core;
    /** The worker's number in its lane. */
    final int number;
    final WorkerStates states;
    final ThreadState state = new ThreadState(this);
    /** The next worker to be started or woken when the tracker lock is released; guarded by that lock. */
    @Nullable
    Worker called;
    /** Whether it already holds the tracker lock. Confined to the worker. */
    private boolean entered;
    /** Confined to the worker. */
    private int gap = MIN_GAP;
    /** The nesting depth of its waits. Confined to the worker. */
    private int blocks;
    /** The next sleeping worker, and the next leaving worker; guarded by the push lock. */
    @Nullable
    Worker nextSleeper;
    @Nullable
    Worker nextLeaving;
    /**
     * The operation that it has run and not yet reported to the tracker, and the exception of its body. Confined to the
     * worker.
     */
    private @Nullable Operation ended;
    /** Confined to the worker. */
    private @Nullable Throwable thrown;
    /** The number of operations that the lane had executed at the watcher's last check; guarded by the push lock. */
    long executedSeen;
    final Batch batch;
    /** Whether it was woken and has not found work yet; guarded by the push lock. */
    boolean searching;
    /**
     * False while it is in the list of sleepers. Until it is woken it must do nothing else, or it would be added to the
     * list twice.
     */
    volatile boolean awake = true;
    /** The operation that it runs or is about to run; guarded by the tracker lock. */
    @Nullable
    Operation taken;

    Worker(WorkerLane lane, int number) {
        super(lane.dispatcher.core.name + "-" + lane.lane + "-" + number);
        this.lane = lane;
        this.number = number;
        states = new WorkerStates(lane.suppliers);
        setDaemon(true);
        core = lane.dispatcher.core;
        batch = new Batch(core.firstIndex);
    }

    /** Starts or wakes the thread; under no lock. */
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
                    // Only a defect, or lack of memory outside a body, leads here. The worker stays in its lane and
                    // keeps the operation that it has run.
                    core.unhandled(t);
                    LockSupport.parkNanos(this, PAUSE_NANOS);
                }
            }
        } finally {
            states.close(core);
        }
    }

    /** Runs operations until none is left for this worker. */
    private void work() {
        int overtaken = 0;
        int burst = 0;
        boolean stays = !lane.isSuperfluous();
        while (true) {
            Operation next = null;
            Callback callback;
            boolean found = false;
            if (!entered && !enterUnlessFed(stays)) {
                burst = Math.min(burst + runBatch(), MANY);
                stays = !lane.isSuperfluous();
                continue;
            }
            entered = false;
            try {
                batch.inUse = false;
                lane.trackedBy(this);
                core.logReader.lookAhead(lane.queue);
                Operation op = ended;
                if (op != null) {
                    core.execution.ran(op, thrown);
                    ended = null;
                    thrown = null;
                } else if (taken != null) {
                    // An error prevented it from running.
                    lane.queue.putBack(taken);
                }
                taken = null;
                if (core.life.isCancelled()) {
                    // The shutdown may have interrupted this thread after its operation had returned.
                    interrupted();
                }
                lane.batches.harvest(this);
                callback = core.rules.nextCallback(core);
                if (callback != null || !stays || core.preemption.isRequested() || lane.isCrowded()) {
                    lane.batches.takeBack(this);
                }
                if (callback != null) {
                    found = true;
                    if (searching) {
                        lane.dispatcher.found(lane, this);
                    }
                } else if (stays && !core.life.isTerminated() && !lane.isCrowded()) {
                    next = core.logReader.next(lane.queue, overtaken, lane.isShared());
                    if (next == null && batch.waiting() == 0 && lane.batches.reclaim(this)) {
                        next = lane.queue.poll();
                    }
                    lane.batches.setIdle(batch, next == null && batch.waiting() == 0);
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
                    core.execution.starts(next);
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
                // Another worker may have handed an operation over, which runs without the tracker lock.
                burst = runBatch();
            }
        }
    }

    /**
     * Acquires the tracker lock, unless its holder puts operations into the batch meanwhile; returns whether it holds
     * the lock.
     */
    private boolean enterUnlessFed(boolean stays) {
        if (!lane.isCombining() || !stays || ended != null || taken != null || lane.isCrowded()) {
            core.lock.enterShallow();
            return true;
        }
        lane.batches.report(batch);
        for (int i = 0;; i++) {
            if (batch.waiting() > 0) {
                return false;
            }
            if ((i & TRIES) == 0 && core.lock.tryEnter()) {
                return true;
            }
            SpinLock.pause(this, i, SPINS);
        }
    }

    /** Runs the batch until it is empty or must be interrupted; returns the number of operations run. */
    private int runBatch() {
        int ran = 0;
        Operation op;
        while ((op = batch.claim()) != null) {
            batch.finish(run(op));
            ran++;
            if (core.preemption.isRequested()) {
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
     * Calls a callback. The worker holds no operation at that time. Unless callbacks are known to be short on this
     * lane, another worker may take its place meanwhile, as in a wait.
     */
    private void call(Callback callback) {
        boolean mayBlock = callback.mayBlock();
        boolean aside = mayBlock && !lane.callbackTimes.isShort();
        if (aside) {
            block();
        }
        long began = mayBlock ? System.nanoTime() : 0;
        try {
            core.guard(callback);
        } finally {
            interrupted();
            if (mayBlock) {
                lane.callbackTimes.sample(System.nanoTime() - began);
            }
            if (aside) {
                unblock();
            }
        }
    }

    private @Nullable Throwable run(Operation op) {
        Throwable thrown;
        if ((batch.countExecuted() & SAMPLED) == 0) {
            long began = System.nanoTime();
            thrown = state.run(op, number);
            lane.bodyTimes.sample(System.nanoTime() - began);
        } else {
            thrown = state.run(op, number);
        }
        interrupted();
        return thrown;
    }

    /**
     * Spins until there seems to be work, for a limited time. Returns whether there seems to be work.
     *
     * @param burst
     *            the number of operations run since the last call. A small number greater than one means that another
     *            thread is pushing at this moment: checking for each operation would cost both threads a cache miss
     *            each time, so the interval between checks grows.
     */
    private boolean awaitWork(int burst) {
        if (burst == 0 || (burst >= SOME && burst < MANY)) {
            gap = Math.min(gap * 2, MAX_GAP);
        } else if (burst < SOME) {
            gap = MIN_GAP;
        }
        long until = System.nanoTime() + SPIN_NANOS;
        int looks = 0;
        do {
            for (int i = 0; i < gap; i++) {
                if (batch.waiting() > 0) {
                    return true;
                }
                onSpinWait();
            }
            if (core.logReader.seemsPushed() || !lane.queue.isEmpty()) {
                return true;
            }
            if ((!lane.isCombining() || (++looks & RARELY) == 0) && lane.batches.hasUnclaimed()) {
                return true;
            }
        } while (System.nanoTime() - until < 0);
        return false;
    }

    /** Sleeps until woken. If an error ended the last sleep, continues it. Returns false if the thread must end. */
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
            LockSupport.parkNanos(this, watching ? WATCH_NANOS : core.rules.lookAroundNanos());
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

    ReadyQueue queue() {
        return lane.queue;
    }

    /**
     * Announces that this thread is about to block. Until {@link #unblock}, another worker may take its place in the
     * lane. Calls may be nested.
     */
    void block() {
        if (blocks == 0) {
            lane.dispatcher.blocked(lane, this);
        }
        blocks++;
    }

    /** Ends the effect of the last {@link #block}. */
    void unblock() {
        if (--blocks == 0) {
            lane.dispatcher.unblocked(lane);
        }
    }
}
