package io.seriatim.engine.core;

import io.seriatim.engine.dependency.Epoch;
import io.seriatim.engine.dependency.Failure;
import io.seriatim.engine.dependency.Failures;
import io.seriatim.engine.dependency.Waiter;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * The epochs of one engine, from the oldest that is not empty to the current one, and the failures of those that have
 * passed. Guarded by the tracker lock.
 */
public final class Epochs {
    private final EngineCore core;
    private final Failures failures = new Failures();
    private Epoch oldest = new Epoch();
    private Epoch current = oldest;

    /** Made here, because there may be no memory when it is needed. */
    private final Consumer<Waiter> pass;

    Epochs(EngineCore core) {
        this.core = core;
        pass = waiter -> {
            waiter.epoch = null;
            core.lock.wake(waiter);
        };
    }

    /** The epoch of operations taken in now. */
    Epoch current() {
        return current;
    }

    /** What failed and was not thrown by a {@code waitForAll}, of the epochs that have passed. */
    public Failures failures() {
        return failures;
    }

    /**
     * Begins a wait for all that was pushed before, and has been taken in.
     *
     * @param fresh
     *            made by the thread that waits, for what is taken in from now on
     */
    public void await(Waiter waiter, Epoch fresh) {
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
        // Otherwise nothing was taken in since another wait has begun: this one waits for the same.
        closed.waiters.add(waiter);
        waiter.epoch = closed;
    }

    /** Gives such a wait up, if it has begun and not ended. */
    public void withdraw(Waiter waiter) {
        Epoch waited = waiter.epoch;
        if (waited == null) {
            return;
        }
        waiter.epoch = null;
        Epoch e = waited.whole();
        e.waiters.remove(waiter);
        Epoch following = e.next;
        if (e.waiters.isEmpty() && following != null) {
            join(e, following);
        }
    }

    /**
     * No wait keeps two epochs apart any more: the later one becomes a part of the earlier one. Not the other way
     * round: a long operation would keep every later epoch in memory.
     */
    private void join(Epoch e, Epoch later) {
        e.pending += later.pending;
        e.failures.takeAll(later.failures);
        later.waiters.removeAll(e.waiters::add);
        later.joined = e;
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

    /** An operation of an epoch has ended. */
    void ended(Epoch epoch) {
        Epoch whole = epoch.joined == null ? epoch : epoch.whole();
        if (--whole.pending == 0 && whole == oldest) {
            pass();
        }
    }

    /** The oldest epoch is empty. */
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

    List<Failure> unobserved() {
        List<Failure> unobserved = new ArrayList<>(failures.unobserved());
        for (Epoch e = oldest; e != null; e = e.next) {
            unobserved.addAll(e.failures.unobserved());
        }
        return unobserved;
    }
}
