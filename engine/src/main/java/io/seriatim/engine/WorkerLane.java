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
    final ReadyQueue queue = new ReadyQueue();
    final int limit;
    final List<Supplier<?>> suppliers;

    // Guarded by the push lock.
    private final Deque<Worker> sleepers = new ArrayDeque<>();
    private final BitSet numbers = new BitSet();
    private final List<Worker> threads = new ArrayList<>();
    private int active;
    private boolean searching;
    /** Whether {@link #pick} would find a worker. May be looked at under the role alone: it becomes true under both. */
    private boolean callable = true;

    WorkerLane(LaneDispatcher dispatcher, Lane lane, int limit, List<Supplier<?>> suppliers) {
        this.dispatcher = dispatcher;
        this.lane = lane;
        this.limit = limit;
        this.suppliers = suppliers;
    }

    boolean isCallable() {
        return callable;
    }

    private void update() {
        callable = !searching && active < limit;
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
        }
        active++;
        searching = true;
        worker.searching = true;
        update();
        return worker;
    }

    /** A searcher has found work. */
    void found(Worker worker) {
        worker.searching = false;
        searching = false;
        update();
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
        numbers.clear(worker.number);
        threads.remove(worker);
    }

    List<Worker> threads() {
        return List.copyOf(threads);
    }

    int threadCount() {
        return threads.size();
    }
}
