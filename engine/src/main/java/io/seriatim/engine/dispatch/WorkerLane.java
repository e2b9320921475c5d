package io.seriatim.engine.dispatch;

import io.seriatim.engine.Lane;
import io.seriatim.engine.dependency.WorkerPool;
import io.seriatim.engine.queue.ReadyQueue;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One lane: a queue of ready operations, and the workers that run them. The queue is guarded by the tracker lock,
 * everything about sleep by the push lock.
 *
 * <p>
 * <b>Who is woken.</b> At most one worker of a lane searches at a time: it was called and has not found work yet. A
 * push, or a readiness, calls a worker only if none searches; the searcher that finds work calls the next if there is
 * more. So a burst of pushes wakes one worker, not all of them one by one.
 *
 * <p>
 * <b>No lost wake-up.</b> A worker goes to sleep under the tracker lock and the push lock, after it has seen the queue
 * and the log empty under both. A later push takes the push lock and a later readiness the tracker lock, so they see it
 * asleep, or another that searches and has yet to look.
 */
public final class WorkerLane extends WorkerPool {
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
    /**
     * The worker that went to sleep last; linked through themselves, so that it takes no memory to send one to sleep.
     */
    private @Nullable Worker sleepers;
    private int active;
    private volatile @Nullable Worker tracker;
    /** Those that are not of the lane any more, and may still be closing their states; linked through themselves. */
    private @Nullable Worker leaving;
    /** Its threads; replaced, never changed. */
    private volatile Worker[] crew = {};
    private boolean searching;
    /**
     * The sleeper that looks from time to time whether the one worker that runs tiny operations is stuck in a long one.
     */
    private @Nullable Worker watcher;
    /**
     * Whether {@link #pick} would find a worker. May be looked at under the tracker lock alone: it becomes true under
     * both.
     */
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
        return callable || owed != null;
    }

    boolean isCallOwed() {
        return owed != null;
    }

    private void update() {
        callable = !searching && active < limit && (watcher == null || active == 0);
    }

    /**
     * Picks a worker to be called, or null if one searches or enough are awake. What can fail comes first; then it is
     * picked.
     */
    @Nullable
    Worker pick() {
        Worker uncalled = (Worker) owed;
        if (uncalled != null) {
            owed = null;
            return uncalled;
        }
        if (!callable) {
            return null;
        }
        Worker worker = sleepers;
        if (worker == null) {
            Worker[] before = crew;
            worker = new Worker(this, freeNumber(before));
            Worker[] after = Arrays.copyOf(before, before.length + 1);
            after[before.length] = worker;
            crew = after;
        } else {
            sleepers = worker.nextSleeper;
            worker.nextSleeper = null;
        }
        if (worker == watcher) {
            watcher = null;
        }
        active++;
        searching = true;
        worker.searching = true;
        callable = false;
        return worker;
    }

    private static int freeNumber(Worker[] workers) {
        int number = 0;
        for (int i = 0; i < workers.length; i++) {
            if (workers[i].number == number) {
                number++;
                i = -1;
            }
        }
        return number;
    }

    private boolean isAsleep(Worker worker) {
        Worker w = sleepers;
        while (w != null && w != worker) {
            w = w.nextSleeper;
        }
        return w != null;
    }

    /** Takes a worker from those that sleep. */
    private void rouse(Worker worker) {
        Worker before = null;
        Worker w = sleepers;
        while (w != null && w != worker) {
            before = w;
            w = w.nextSleeper;
        }
        if (w == null) {
            return;
        }
        if (before == null) {
            sleepers = w.nextSleeper;
        } else {
            before.nextSleeper = w.nextSleeper;
        }
        w.nextSleeper = null;
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
        rouse(worker);
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
        for (Worker worker : crew) {
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

    /** Who held the tracker lock last is to take it again: what it guards is in that processor's cache. */
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
        worker.nextSleeper = sleepers;
        sleepers = worker;
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
        if (!isAsleep(worker)) {
            return false;
        }
        Worker[] others = without(worker);
        rouse(worker);
        gone(worker, others);
        return true;
    }

    /** A worker that was awake is gone. */
    void lost(Worker worker) {
        Worker[] others = without(worker);
        if (worker.searching) {
            found(worker);
        }
        active--;
        update();
        gone(worker, others);
    }

    private Worker[] without(Worker worker) {
        dispatcher.core.rules.beforeDismissal(worker);
        Worker[] workers = crew;
        int n = 0;
        Worker[] others = new Worker[workers.length];
        for (Worker other : workers) {
            if (other != worker) {
                others[n++] = other;
            }
        }
        return Arrays.copyOf(others, n);
    }

    private void gone(Worker worker, Worker[] others) {
        Worker alive = null;
        for (Worker w = leaving; w != null;) {
            Worker following = w.nextLeaving;
            w.nextLeaving = null;
            if (w.isAlive()) {
                w.nextLeaving = alive;
                alive = w;
            }
            w = following;
        }
        worker.nextLeaving = alive;
        leaving = worker;
        if (worker == watcher) {
            watcher = null;
            update();
        }
        crew = others;
    }

    List<Worker> leaving() {
        List<Worker> list = new ArrayList<>();
        for (Worker w = leaving; w != null; w = w.nextLeaving) {
            list.add(w);
        }
        return list;
    }
}
