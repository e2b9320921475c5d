package io.seriatim.engine;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Deque;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One lane: a queue of ready operations, and the workers that run them. The queue is owned by the tracker's role, everything about sleep by the push lock.
 *
 * <p>
 * <b>Who is woken.</b> At most one worker of a lane searches at a time: it was called and has not found work yet. A push, or a readiness, calls a worker only if none
 * searches; the searcher that finds work calls the next if there is more. So a burst of pushes wakes one worker, not all of them one by one.
 *
 * <p>
 * <b>No lost wake-up.</b> A worker goes to sleep under the role and the push lock, after it has seen the queue and the log empty under both. A later push takes the push
 * lock and a later readiness the role, so they see it asleep, or another that searches and has yet to look.
 */
final class WorkerLane {
    final LaneDispatcher dispatcher;
    final Lane lane;
    final ReadyQueue queue;
    final Pace pace = new Pace();
    /** Of what users have told by this lane's workers. */
    final Pace callbackPace = new Pace();
    final int limit;
    final Batches batches;
    final List<Supplier<?>> suppliers;

    // Guarded by the push lock.
    private final Deque<Worker> sleepers = new ArrayDeque<>();
    private final BitSet numbers = new BitSet();
    private final List<Worker> threads = new ArrayList<>();
    private int active;
    private volatile @Nullable Worker tracker;
    /** Those that are not of the lane any more, and may still be closing their states. */
    private final List<Worker> leaving = new ArrayList<>();
    /** A copy of the threads, for those who hold the role alone. */
    private volatile Worker[] crew = {};
    private boolean searching;
    /** The sleeper that looks from time to time whether the one worker that runs tiny operations is stuck in a long one. */
    private @Nullable Worker watcher;
    /** Whether {@link #pick} would find a worker. May be looked at under the role alone: it becomes true under both. */
    private boolean callable = true;

    WorkerLane(LaneDispatcher dispatcher, Lane lane, int limit, List<Supplier<?>> suppliers) {
        this.dispatcher = dispatcher;
        this.lane = lane;
        this.limit = limit;
        this.suppliers = suppliers;
        queue = new ReadyQueue(dispatcher.core.firstIndex);
        batches = new Batches(this, dispatcher.core);
    }

    boolean isCallable() {
        return callable;
    }

    private void update() {
        callable = !searching && active < limit && (watcher == null || active == 0);
    }

    /** Picks a worker to be called, or null if one searches or enough are awake. */
    @Nullable
    Worker pick() {
        if (!callable) {
            return null;
        }
        Worker worker = sleepers.poll();
        if (worker == null) {
            int number = numbers.nextClearBit(0);
            numbers.set(number);
            worker = new Worker(this, number);
            threads.add(worker);
            crew = threads.toArray(Worker[]::new);
        }
        call(worker);
        return worker;
    }

    private void call(Worker worker) {
        if (worker == watcher) {
            watcher = null;
        }
        active++;
        searching = true;
        worker.searching = true;
        update();
    }

    /** Whether operations are so short that this worker had better leave them to another that is awake. */
    boolean isSuperfluous() {
        return active > 1 && pace.isTiny();
    }

    boolean isWatched(Worker worker) {
        return worker == watcher;
    }

    /**
     * The watcher has looked around.
     *
     * @param stuck
     *            whether there is work and the others get on slowly
     * @return whether it is awake now, and searches
     */
    boolean watched(Worker worker, boolean stuck) {
        if (worker != watcher) {
            return false;
        }
        if (active == 0) {
            watcher = null;
            update();
            return false;
        }
        if (!stuck || searching || active >= limit) {
            return false;
        }
        sleepers.remove(worker);
        pace.forget();
        call(worker);
        return true;
    }

    /** The watcher sleeps like the others from now on. */
    void endWatch(Worker worker) {
        if (worker == watcher) {
            watcher = null;
            update();
        }
    }

    /** Operations that the lane's workers have run. */
    long executed() {
        long sum = 0;
        for (Worker worker : threads) {
            sum += worker.executed();
        }
        return sum;
    }

    /** A searcher has found work. */
    void found(Worker worker) {
        worker.searching = false;
        searching = false;
        update();
    }

    /** Whether several workers are awake; a hint. */
    boolean isShared() {
        return active > 1;
    }

    Worker[] crew() {
        return crew;
    }

    /** Who held the role last is to take it again: what it guards is in that processor's cache. */
    void trackedBy(Worker worker) {
        if (tracker != worker) {
            tracker = worker;
        }
    }

    boolean isTrackedBy(Worker worker) {
        return tracker == worker;
    }

    /** Whether more workers are awake than the lane is to have, because one came back from a wait. */
    boolean isCrowded() {
        return active > limit;
    }

    void sleep(Worker worker) {
        if (worker.searching) {
            found(worker);
        }
        worker.awake = false;
        sleepers.push(worker);
        active--;
        if (active > 0 && watcher == null && pace.isTiny()) {
            watcher = worker;
        }
        update();
    }

    void blocked() {
        active--;
        update();
    }

    void unblocked() {
        active++;
        update();
    }

    /** Takes a sleeping worker out for good; false if it has been called meanwhile. */
    boolean dismiss(Worker worker) {
        if (!sleepers.remove(worker)) {
            return false;
        }
        gone(worker);
        return true;
    }

    /** A worker that was awake, or could not be started, is gone. */
    void lost(Worker worker) {
        if (worker.searching) {
            found(worker);
        }
        active--;
        update();
        gone(worker);
    }

    private void gone(Worker worker) {
        leaving.removeIf(other -> !other.isAlive());
        leaving.add(worker);
        if (worker == watcher) {
            watcher = null;
            update();
        }
        numbers.clear(worker.number);
        threads.remove(worker);
        crew = threads.toArray(Worker[]::new);
    }

    List<Worker> leaving() {
        return List.copyOf(leaving);
    }
}
