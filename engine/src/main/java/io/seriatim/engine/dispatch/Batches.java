package io.seriatim.engine.dispatch;

import io.seriatim.engine.core.EngineCore;
import io.seriatim.engine.dependency.Operation;
import io.seriatim.engine.log.Attention;
import org.jspecify.annotations.Nullable;

/**
 * Hands operations of a lane out in batches, where several workers run short ones: who holds the tracker lock takes
 * up what all of them have finished and fills the others' batches beside its own, so that the tracker lock, and what it
 * guards, changes processors once in some operations only. All of it under the tracker lock.
 *
 * <p>
 * Nothing is left behind with a worker that is stuck in a long body: what it has finished is taken up by the next that
 * holds the tracker lock, and what it has not begun is taken back when others have nothing to do, when it has not got
 * on for some time, or when {@link Attention} is wanted. A worker about to sleep looks last.
 */
public final class Batches {
    private static final int PATIENCE = 4;

    private final WorkerLane lane;
    private final EngineCore core;

    Batches(WorkerLane lane, EngineCore core) {
        this.lane = lane;
        this.core = core;
    }

    /** Takes up what the lane's workers have finished. */
    void harvest() {
        for (Worker worker : lane.crew()) {
            worker.batch.harvest(core);
        }
    }

    /** Takes back what a worker has not begun. */
    void takeBack(Worker worker) {
        Operation op;
        while ((op = worker.batch.takeBack()) != null) {
            lane.queue.putBack(op);
        }
    }

    void takeAllBack() {
        for (Worker worker : lane.crew()) {
            takeBack(worker);
        }
    }

    /**
     * Fills the batches of a worker and of those beside it.
     *
     * @param first
     *            what the worker was to run now
     * @return what it is to run outside its batch: the operation, or null if that is in the batch
     */
    @Nullable
    Operation fill(Worker me, Operation first, int overtaken) {
        int depth = lane.pace.batch();
        if (depth < 2 || !lane.isShared() || core.attention.isWanted() || !mayWait(first) || me.batch.room() == 0) {
            return first;
        }
        boolean more = fill(me.batch, first, depth, overtaken);
        for (Worker other : lane.crew()) {
            if (other != me && other.usesBatch) {
                if (other.batch.isStuck(PATIENCE)) {
                    takeBack(other);
                } else if (more && other.batch.waiting() <= depth / 2) {
                    more = fill(other.batch, null, depth, overtaken);
                }
            }
        }
        me.usesBatch = true;
        return null;
    }

    /** Fills one batch; returns whether there may be more operations that are ready. */
    private boolean fill(Batch batch, @Nullable Operation first, int depth, int overtaken) {
        int wanted = Math.min(depth - batch.waiting(), batch.room());
        int added = 0;
        Operation op = first;
        if (op == null) {
            op = core.intake.next(lane.queue, overtaken);
        }
        while (op != null && mayWait(op)) {
            batch.put(added++, op);
            if (added >= wanted) {
                batch.publish(added);
                return true;
            }
            op = core.intake.next(lane.queue, overtaken);
        }
        if (op != null) {
            lane.queue.putBack(op);
        }
        batch.publish(added);
        return false;
    }

    /** Whether no one may be waiting for this operation by itself. */
    private static boolean mayWait(Operation op) {
        return op.attachment == null && !op.has(Operation.ASYNC_BODY) && op.priority == 0 && !op.has(Operation.URGENT);
    }
}
