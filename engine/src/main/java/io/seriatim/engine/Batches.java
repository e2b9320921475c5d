package io.seriatim.engine;

import org.jspecify.annotations.Nullable;

/**
 * Hands out the operations of a lane in batches when several workers run short ones. The worker that holds the tracker
 * lock ends the finished operations of all workers and fills their batches as well as its own, so that the tracker lock
 * and its data move between processors less than once per operation. All methods run under the tracker lock, except one
 * that only gives a hint.
 *
 * <p>
 * A worker with nothing to run spins and polls its batch. It gets an operation before any other batch is filled.
 *
 * <p>
 * If more than two workers are awake, a worker that has run its batch does not queue for the tracker lock. It adds
 * itself to a list and polls its batch; whoever holds the lock takes the list, ends the finished operations and hands
 * new ones over (flat combining; Hendler, Incze, Shavit, Tzafrir, SPAA 2010). It tries the lock as well, so that it is
 * served even if nobody else comes.
 *
 * <p>
 * A long body does not hold up the other operations of its worker's batch. The next holder of the tracker lock ends the
 * finished ones. The unclaimed ones are taken back when other workers have nothing to do, when the worker has made no
 * progress for some time, or when {@link BatchPreemption} is requested. A worker checks once more before it sleeps.
 */
final class Batches {
    private static final int PATIENCE = 4;

    /** How often the holder of the tracker lock serves workers that have reported meanwhile before it releases it. */
    private static final int ROUNDS = 2;

    private final WorkerLane lane;
    private final EngineCore core;
    private final Reports reports = new Reports();
    /** The number of idle workers. Guarded by the tracker lock. */
    private int idle;

    Batches(WorkerLane lane, EngineCore core) {
        this.lane = lane;
        this.core = core;
    }

    /** Called by a worker that has run its batch, without the tracker lock: the holder of the lock will serve it. */
    void report(Batch mine) {
        reports.add(mine);
    }

    /** Records whether the owner of a batch has nothing to run and polls it. */
    void setIdle(Batch batch, boolean nothing) {
        assert core.lock.isHeldByCurrentThread();
        if (batch.ownerIdle != nothing) {
            batch.ownerIdle = nothing;
            idle += nothing ? 1 : -1;
        }
    }

    /**
     * Ends the operations that this worker and those that have reported have finished; if batches hold several
     * operations, also what the others have finished. Otherwise their batches are not read, because each of them is in
     * the cache of another processor.
     */
    void harvest(Worker me) {
        if (lane.isCombining() && lane.bodyTimes.batch() < 2) {
            harvestReports();
            me.batch.harvest(core);
        } else {
            harvest();
        }
        setIdle(me.batch, false);
    }

    /** Ends the operations of the workers that have reported. They are idle from now on, unless they run a batch. */
    private void harvestReports() {
        Batch batch = reports.takeAll();
        while (batch != null) {
            Batch following = reports.next(batch);
            batch.harvest(core);
            if (batch.isDrained()) {
                setIdle(batch, true);
            }
            batch = following;
        }
    }

    /** Ends the operations that the lane's workers have finished. */
    void harvest() {
        harvestReports();
        for (Worker worker : lane.workers()) {
            worker.batch.harvest(core);
        }
    }

    /** Takes back the unclaimed operations of a worker. */
    void takeBack(Worker worker) {
        Operation op;
        while ((op = worker.batch.takeBack()) != null) {
            lane.queue.putBack(op);
        }
    }

    void takeAllBack() {
        for (Worker worker : lane.workers()) {
            takeBack(worker);
        }
    }

    /** Returns whether a worker has operations in its batch that it has not begun; a hint. */
    boolean hasUnclaimed() {
        for (Worker worker : lane.workers()) {
            if (worker.batch.waiting() > 0) {
                return true;
            }
        }
        return false;
    }

    /**
     * Takes back operations for a worker that has nothing to run from workers that have several, or that make no
     * progress. Returns whether it took any.
     */
    boolean reclaim(Worker me) {
        boolean any = false;
        for (Worker other : lane.workers()) {
            if (other != me && (other.batch.waiting() > 1 || other.batch.isStuck(PATIENCE))) {
                Operation op = other.batch.takeBack();
                if (op != null) {
                    lane.queue.putBack(op);
                    any = true;
                }
            }
        }
        return any;
    }

    /**
     * Hands operations to idle workers, one each, and fills the batches of a worker and of the lane's other workers.
     *
     * @param first
     *            the operation that the worker would run now
     * @return {@code first} if the worker must run it outside its batch, or null if it is in the batch
     */
    @Nullable
    Operation fill(Worker me, Operation first, int overtaken) {
        if (!lane.isShared() || core.preemption.isRequested() || !isBatchable(first)) {
            return first;
        }
        boolean more = handOver(overtaken);
        int depth = lane.bodyTimes.batch();
        boolean combining = lane.isCombining();
        if ((depth < 2 && !combining) || me.batch.room() == 0) {
            return first;
        }
        more = fill(me.batch, first, more ? Math.max(depth, 1) : 1, overtaken) && more;
        me.batch.inUse = true;
        for (int i = 0; combining && i < ROUNDS && !reports.isEmpty(); i++) {
            harvestReports();
            more = handOver(overtaken);
        }
        if (depth >= 2) { // behind a longer operation another one would wait
            fillOthers(me, more, depth, overtaken);
        }
        return null;
    }

    private void fillOthers(Worker me, boolean more, int depth, int overtaken) {
        boolean any = more;
        for (Worker other : lane.workers()) {
            if (other != me && other.batch.inUse) {
                if (other.batch.isStuck(PATIENCE)) {
                    takeBack(other);
                } else if (any && other.batch.waiting() <= depth / 2) {
                    any = fill(other.batch, null, depth, overtaken);
                }
            }
        }
    }

    /** Puts one operation into the batch of each idle worker; returns whether there may be more ready operations. */
    private boolean handOver(int overtaken) {
        if (idle == 0) {
            return true;
        }
        for (Worker other : lane.workers()) {
            if (other.batch.ownerIdle) {
                Operation op = core.logReader.next(lane.queue, overtaken, true);
                if (op == null) {
                    return false;
                }
                if (!isBatchable(op)) {
                    lane.queue.putBack(op);
                    return false;
                }
                setIdle(other.batch, false);
                other.batch.inUse = true;
                other.batch.put(0, op);
                other.batch.publish(1);
                if (other.searching) {
                    lane.dispatcher.found(lane, other);
                }
            }
        }
        return true;
    }

    /** Fills one batch; returns whether there may be more ready operations. */
    private boolean fill(Batch batch, @Nullable Operation first, int depth, int overtaken) {
        int wanted = Math.min(depth - batch.waiting(), batch.room());
        int added = 0;
        Operation op = first;
        if (op == null) {
            op = core.logReader.next(lane.queue, overtaken, true);
        }
        while (op != null && isBatchable(op)) {
            batch.put(added++, op);
            if (added >= wanted) {
                batch.publish(added);
                return true;
            }
            op = core.logReader.next(lane.queue, overtaken, true);
        }
        if (op != null) {
            lane.queue.putBack(op);
        }
        batch.publish(added);
        return false;
    }

    /**
     * Returns whether no thread can be waiting for this particular operation, so that it may stay in a batch. What
     * lends its worker to a graph must not stand behind the graph itself.
     */
    private static boolean isBatchable(Operation op) {
        return op.attachment == null && op.priority == 0
                && (op.flags & (Operation.ASYNC_BODY | Operation.URGENT | Operation.GRAPH | Operation.HELPER)) == 0;
    }
}
