package io.seriatim.engine;

import java.util.ArrayList;
import java.util.List;

/** The epochs of one engine, from the oldest that is not empty to the current one, and the failures of those that have passed. Owned by the tracker's role. */
final class Epochs {
    private final EngineCore core;
    private final Failures failures = new Failures();
    private Epoch oldest = new Epoch();
    private Epoch current = oldest;

    Epochs(EngineCore core) {
        this.core = core;
    }

    /** The epoch of operations taken in now. */
    Epoch current() {
        return current;
    }

    /** What failed and was not thrown by a {@code waitForAll}, of the epochs that have passed. */
    Failures failures() {
        return failures;
    }

    /** Begins a wait for all that was pushed before, and has been taken in. */
    void await(Waiter waiter) {
        Epoch e = current;
        if (e == oldest && e.pending == 0) {
            failures.takeAll(e.failures);
            waiter.done = true;
            core.afterwards(waiter::signal);
            return;
        }
        Epoch fresh = new Epoch();
        e.next = fresh;
        current = fresh;
        waiter.next = e.waiters;
        e.waiters = waiter;
    }

    /** The last operation of an epoch has ended. */
    void emptied(Epoch epoch) {
        Epoch e = oldest;
        if (epoch != e) {
            return;
        }
        Epoch following;
        while (e.pending == 0 && (following = e.next) != null) {
            failures.takeAll(e.failures);
            for (Waiter waiter = e.waiters; waiter != null; waiter = waiter.next) {
                core.afterwards(waiter::signal);
            }
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
