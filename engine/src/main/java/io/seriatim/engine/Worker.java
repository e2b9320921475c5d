package io.seriatim.engine;

import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** A thread of a lane: takes a ready operation under the tracker's role, runs it without, and tells its end when it takes the next. */
final class Worker extends Thread {
    private static final long LOOK_AROUND_NANOS = 1_000_000_000;
    private static final long SPIN_NANOS = 20_000;

    final EngineCore core;
    final int number;
    final Workplace place = new Workplace(this);
    final WorkerStates states;
    private final WorkerLane lane;

    /** Guarded by the push lock. */
    boolean searching;
    volatile boolean awake = true;
    /** What it runs, or is about to; owned by the tracker's role. */
    @Nullable
    Operation taken;

    Worker(WorkerLane lane, int number) {
        super(lane.dispatcher.core.name + "-" + lane.lane + "-" + number);
        this.lane = lane;
        this.number = number;
        core = lane.dispatcher.core;
        states = new WorkerStates(lane.suppliers);
        setDaemon(true);
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
            while (going) {
                try {
                    work();
                    going = sleep();
                } catch (Throwable t) {
                    // Only a defect, or a lack of memory outside a body, comes here; the lane keeps its worker.
                    core.unhandled(t);
                }
            }
        } finally {
            states.close(core);
        }
    }

    /** Runs operations until there are none. */
    private void work() {
        Operation op = null;
        Throwable thrown = null;
        long idleSince = 0;
        int overtaken = 0;
        while (true) {
            Operation next = null;
            core.enter();
            try {
                core.lookAhead(lane.queue);
                if (op != null) {
                    core.ran(op, thrown);
                    op = null;
                }
                if (!core.isTerminated() && !lane.isCrowded()) {
                    next = core.next(lane.queue, overtaken);
                    overtaken = overtaken < EngineCore.MAX_OVERTAKEN ? overtaken + 1 : 0;
                }
                taken = next;
                if (next != null) {
                    core.starts(next);
                    if (searching) {
                        lane.dispatcher.found(lane, this);
                    }
                }
            } finally {
                core.leave();
            }
            if (next != null) {
                thrown = place.run(next, number);
                interrupted();
                op = next;
                idleSince = 0;
            } else if (core.isTerminated() || lane.isCrowded()) {
                return;
            } else {
                long now = nanoTime();
                if (idleSince == 0) {
                    idleSince = now;
                }
                if (!awaitWork(idleSince + SPIN_NANOS)) {
                    return;
                }
            }
        }
    }

    private static long nanoTime() {
        return System.nanoTime();
    }

    private boolean awaitWork(long until) {
        do {
            for (int i = 0; i < 20; i++) {
                onSpinWait();
            }
            if (core.seemsPushed() || !lane.queue.isEmpty()) {
                return true;
            }
        } while (nanoTime() - until < 0);
        return false;
    }

    /** Sleeps until called. Returns false when the thread is to end. */
    private boolean sleep() {
        core.enter();
        try {
            if (!lane.dispatcher.sleep(lane, this)) {
                if (core.isTerminated()) {
                    lane.dispatcher.dismissAwake(lane, this);
                    return false;
                }
                return true;
            }
        } finally {
            core.leave();
        }
        while (!awake) {
            LockSupport.parkNanos(this, LOOK_AROUND_NANOS);
            interrupted();
            if (!awake && lane.dispatcher.dismiss(lane, this)) {
                return false;
            }
        }
        return true;
    }

    /** This thread is about to wait for something that may need its lane: another worker may take its place. */
    void block() {
        lane.dispatcher.blocked(lane);
    }

    void unblock() {
        lane.dispatcher.unblocked(lane);
    }

    /** It could not be started; under the push lock. */
    void lost() {
        lane.lost(this);
    }
}
