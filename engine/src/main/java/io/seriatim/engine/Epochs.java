package io.seriatim.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * The epochs of one engine, from the oldest one with pending operations to the current one, and the failures of earlier
 * epochs. Guarded by the tracker lock.
 */
final class Epochs {
    private final EngineCore core;
    private final Failures failures = new Failures();
    private Epoch oldest = new Epoch();
    private Epoch current = oldest;

    /** Created in advance, because memory may be exhausted when it is needed. */
    private final Consumer<Waiter> pass;

    Epochs(EngineCore core) {
        this.core = core;
        pass = waiter -> {
            waiter.epoch = null;
            core.lock.wake(waiter);
        };
    }

    /** Returns the epoch of operations that are admitted now. */
    Epoch current() {
        return current;
    }

    /** Returns the failures of earlier epochs that no {@code waitForAll} has thrown. */
    Failures failures() {
        return failures;
    }

    /**
     * Begins a wait for all operations that have been admitted.
     *
     * @param fresh
     *            the epoch of operations that are admitted from now on; allocated by the waiting thread
     */
    void await(Waiter waiter, Epoch fresh) {
        assert core.lock.isHeldByCurrentThread();
        Epoch e = current;
        if (e == oldest && e.pending == 0) {
            failures.takeAll(e.failures);
            waiter.done = true;
            core.lock.wake(waiter);
            return;
        }
        long admitted = core.counts.admitted();
        Epoch closed = e.previous;
        if (closed == null || e.begin != admitted) {
            fresh.begin = admitted;
            fresh.previous = e;
            e.next = fresh;
            current = fresh;
            closed = e;
        }
        // Otherwise no operation was admitted since the last wait began, and both wait for the same epochs.
        closed.waiters.add(waiter);
        waiter.epoch = closed;
    }

    /** Abandons such a wait, if it has begun and not ended. */
    void withdraw(Waiter waiter) {
        assert core.lock.isHeldByCurrentThread();
        Epoch waited = waiter.epoch;
        if (waited == null) {
            return;
        }
        waiter.epoch = null;
        Epoch e = waited.merged();
        e.waiters.remove(waiter);
        Epoch following = e.next;
        if (e.waiters.isEmpty() && following != null) {
            merge(e, following);
        }
    }

    /**
     * Merges two epochs that no wait separates any more: the later one into the earlier one. The other direction would
     * let a long-running operation keep every later epoch in memory.
     */
    private void merge(Epoch e, Epoch later) {
        e.pending += later.pending;
        e.failures.takeAll(later.failures);
        later.waiters.removeAll(e.waiters::add);
        later.mergedInto = e;
        Epoch following = later.next;
        later.next = null;
        later.previous = null;
        e.next = following;
        if (following == null) {
            current = e;
        } else {
            following.previous = e;
        }
    }

    /** Counts an operation of an epoch that has ended. */
    void ended(Epoch epoch) {
        Epoch whole = epoch.mergedInto == null ? epoch : epoch.merged();
        if (--whole.pending == 0 && whole == oldest) {
            pass();
        }
    }

    /** Ends the empty epochs at the front of the list, and the waits for them. */
    private void pass() {
        Epoch e = oldest;
        Epoch following;
        while (e.pending == 0 && (following = e.next) != null) {
            failures.takeAll(e.failures);
            e.waiters.removeAll(pass);
            e.next = null;
            following.previous = null;
            e = following;
        }
        oldest = e;
    }

    /** Moves the failures of all epochs to those of earlier ones, because all operations have ended. */
    void takeFailures() {
        for (Epoch e = oldest; e != null; e = e.next) {
            failures.takeAll(e.failures);
        }
    }

    List<Failure> unobserved() {
        List<Failure> unobserved = new ArrayList<>(failures.unobserved());
        for (Epoch e = oldest; e != null; e = e.next) {
            unobserved.addAll(e.failures.unobserved());
        }
        return unobserved;
    }
}
