package io.seriatim.engine;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The ready operations and the workers of one lane. The tracker lock guards the queue; the push lock guards the state
 * of sleeping workers.
 *
 * <p>
 * <b>Which worker is woken.</b> A worker is searching if it was woken and has not found work yet. A push, or an
 * operation that becomes ready, wakes a worker only if none is searching, or fewer than one more than half as many as
 * are awake. A searching worker that finds work wakes the next one if there is more. So a burst of pushes does not wake
 * all workers, and many workers wake each other in a number of steps that is logarithmic in theirs.
 *
 * <p>
 * <b>No lost wake-up.</b> A worker goes to sleep while it holds the tracker lock and the push lock, after it has found
 * the queue and the log empty under both. A later push acquires the push lock, and a later change to ready the tracker
 * lock. So each of them sees the worker asleep, or another worker that is searching and has not checked yet.
 */
final class WorkerLane {
    final LaneDispatcher dispatcher;
    final Lane lane;
    final ReadyQueue queue;
    final BodyTimes bodyTimes = new BodyTimes();
    /** The running times of callbacks on this lane's workers. */
    final BodyTimes callbackTimes = new BodyTimes();
    final int limit;
    final Batches batches;
    final List<Supplier<?>> suppliers;

    /**
     * A worker that was chosen but could not be started or woken, for lack of memory or stack. Written without a lock,
     * because the writer may lack the stack for a call; the next thread that chooses a worker reads it.
     */
    volatile @Nullable Worker owed;

    /**
     * The head of an intrusive list of sleeping workers, the last sleeper first. Intrusive, so that sending a worker to
     * sleep allocates nothing. Guarded by the push lock.
     */
    private @Nullable Worker sleepers;
    /** Guarded by the push lock. */
    private int active;
    private volatile @Nullable Worker tracker;
    /**
     * The head of an intrusive list of workers that have left the lane, but may still be closing their states. Guarded
     * by the push lock.
     */
    private @Nullable Worker leaving;
    /** The lane's workers; copied on write. */
    private volatile Worker[] workers = {};
    /** The number of workers that were woken and have not found work yet. Guarded by the push lock. */
    private int searching;
    /**
     * The sleeping worker that checks from time to time whether the single worker that runs tiny operations is stuck in
     * a long one. Guarded by the push lock.
     */
    private @Nullable Worker watcher;
    /**
     * Whether {@link #pick} would return a worker. May be read under the tracker lock alone, because it becomes true
     * only under both locks. Guarded by the push lock.
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
        callable = searching < 1 + active / 2 && active < limit && (watcher == null || active == 0);
    }

    /**
     * Chooses a worker to start or wake, or returns null if one is searching or enough are awake. Every step that may
     * fail precedes the first change of state.
     */
    @Nullable
    Worker pick() {
        assert dispatcher.core.pushes.isHeldByCurrentThread();
        Worker uncalled = owed;
        if (uncalled != null) {
            owed = null;
            return uncalled;
        }
        if (!callable) {
            return null;
        }
        Worker worker = sleepers;
        if (worker == null) {
            Worker[] before = workers;
            worker = new Worker(this, freeNumber(before));
            Worker[] after = Arrays.copyOf(before, before.length + 1);
            after[before.length] = worker;
            workers = after;
        } else {
            sleepers = worker.nextSleeper;
            worker.nextSleeper = null;
        }
        if (worker == watcher) {
            watcher = null;
        }
        active++;
        searching++;
        worker.searching = true;
        update();
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

    /** Removes a worker from the list of sleepers. */
    private void removeSleeper(Worker worker) {
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
        searching++;
        worker.searching = true;
        update();
    }

    /** Returns whether operations are so short that this worker should leave them to another awake worker. */
    boolean isSuperfluous() {
        return active > 1 && bodyTimes.isTiny();
    }

    boolean isWatched(Worker worker) {
        return worker == watcher;
    }

    /**
     * Handles the result of the watcher's check.
     *
     * @param stuck
     *            whether there is work and the other workers make slow progress
     * @return whether the watcher is awake and searching now
     */
    boolean watched(Worker worker, boolean stuck) {
        assert dispatcher.core.pushes.isHeldByCurrentThread();
        if (worker != watcher) {
            return false;
        }
        if (active == 0) {
            watcher = null;
            update();
            return false;
        }
        if (!stuck || searching > 0 || active >= limit) {
            return false;
        }
        removeSleeper(worker);
        bodyTimes.forget();
        call(worker);
        return true;
    }

    /** Turns the watcher into an ordinary sleeper. */
    void endWatch(Worker worker) {
        assert dispatcher.core.pushes.isHeldByCurrentThread();
        if (worker == watcher) {
            watcher = null;
            update();
        }
    }

    /** Returns the number of operations that the lane's workers have run. */
    long executed() {
        long sum = 0;
        for (Worker worker : workers) {
            sum += worker.batch.executed();
        }
        return sum;
    }

    /** Records that a searching worker has found work. */
    void found(Worker worker) {
        assert dispatcher.core.pushes.isHeldByCurrentThread();
        worker.searching = false;
        searching--;
        update();
    }

    /**
     * Returns whether so many workers are awake that the holder of the tracker lock serves those that wait for it; a
     * hint. Two workers gain nothing by it, as decision 090 says.
     */
    boolean isCombining() {
        return active > 2;
    }

    /** Returns whether several workers are awake; a hint. */
    boolean isShared() {
        return active > 1;
    }

    Worker[] workers() {
        return workers;
    }

    /**
     * Records the last worker to hold the tracker lock. The same worker should acquire it next, because the data of the
     * tracker is in its processor's cache.
     */
    void trackedBy(Worker worker) {
        if (tracker != worker) {
            tracker = worker;
        }
    }

    boolean isTrackedBy(Worker worker) {
        return tracker == worker;
    }

    /** Returns whether more workers are awake than the lane's limit, because one has returned from a wait. */
    boolean isCrowded() {
        return active > limit;
    }

    void sleep(Worker worker) {
        assert dispatcher.core.pushes.isHeldByCurrentThread();
        if (worker.searching) {
            found(worker);
        }
        worker.awake = false;
        worker.nextSleeper = sleepers;
        sleepers = worker;
        active--;
        if (active > 0 && watcher == null && bodyTimes.isTiny()) {
            watcher = worker;
        }
        update();
    }

    void blocked() {
        assert dispatcher.core.pushes.isHeldByCurrentThread();
        active--;
        update();
    }

    void unblocked() {
        assert dispatcher.core.pushes.isHeldByCurrentThread();
        active++;
        update();
    }

    /** Removes a sleeping worker from the lane; returns false if it has been woken meanwhile. */
    boolean dismiss(Worker worker) {
        assert dispatcher.core.pushes.isHeldByCurrentThread();
        if (!isAsleep(worker)) {
            return false;
        }
        Worker[] others = without(worker);
        removeSleeper(worker);
        leave(worker, others);
        return true;
    }

    /** Removes an awake worker from the lane. */
    void removeAwake(Worker worker) {
        assert dispatcher.core.pushes.isHeldByCurrentThread();
        Worker[] others = without(worker);
        if (worker.searching) {
            found(worker);
        }
        active--;
        update();
        leave(worker, others);
    }

    private Worker[] without(Worker worker) {
        dispatcher.core.rules.beforeDismissal(worker);
        Worker[] before = workers;
        int n = 0;
        Worker[] others = new Worker[before.length];
        for (Worker other : before) {
            if (other != worker) {
                others[n++] = other;
            }
        }
        return Arrays.copyOf(others, n);
    }

    private void leave(Worker worker, Worker[] others) {
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
        workers = others;
    }

    List<Worker> leaving() {
        List<Worker> list = new ArrayList<>();
        for (Worker w = leaving; w != null; w = w.nextLeaving) {
            list.add(w);
        }
        return list;
    }
}
