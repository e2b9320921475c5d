package io.seriatim.engine;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Derives from the push order which operations are ready. For each variable it keeps the operations that hold it and a
 * queue of the operations that wait for it:
 *
 * <ul>
 * <li>a read gets the variable if no mutation holds it and the queue is empty;</li>
 * <li>a mutation gets the variable if no operation holds it and the queue is empty;</li>
 * <li>when the last holder releases the variable, the head of the queue gets it: either all reads up to the next
 * mutation, or one mutation.</li>
 * </ul>
 *
 * <p>
 * An operation that holds all its variables is ready. Not thread-safe: callers hold the tracker lock, see
 * {@code EngineCore}. No method runs a body or recurses, and none allocates while it admits or releases an ordinary
 * operation.
 */
final class Tracker {
    private final Consumer<Operation> ready;

    /**
     * The number of poisoned variables. While it is 0, no operation's variables are checked for poison. Guarded by the
     * tracker lock.
     */
    private long poisoned;

    Tracker(Consumer<Operation> ready) {
        this.ready = ready;
    }

    /** Admits the next operation of the push order. */
    void admit(Operation op) {
        Variable[] vars = op.vars;
        int waiting = 0;
        for (int i = 0; i < op.count; i++) {
            VarState s = vars[i].state();
            if (i < op.reads) {
                if (s.openToRead()) {
                    s.readers++;
                    continue;
                }
            } else if (s.openToMutate()) {
                s.writer = op;
                continue;
            }
            enqueue(s, op, i);
            waiting++;
        }
        op.waiting = waiting;
        if (waiting == 0) {
            ready.accept(op);
        }
    }

    private static void enqueue(VarState s, Operation op, int place) {
        Operation t = s.tail;
        if (op.has(Operation.PROBE)) {
            // A back link, so that the wait can be removed from the queue without a search.
            op.link = t;
        } else {
            s.queued++;
        }
        if (t == null) {
            s.head = op;
            s.headPlace = place;
        } else {
            t.next(s.tailPlace, op, place);
        }
        s.tail = op;
        s.tailPlace = place;
    }

    /** Releases the variables that an operation holds, and sets or clears the failure of those that it mutated. */
    void release(Operation op, @Nullable Failure failure) {
        Variable[] vars = op.vars;
        Times times = op.times;
        GraphRun graph = op.has(Operation.GRAPH) && failure == null ? (GraphRun) op.body : null;
        for (int i = 0; i < op.count; i++) {
            Variable v = vars[i];
            VarState s = v.state();
            if (times != null) {
                s.freed(i < op.reads, times.ended);
            }
            if (i < op.reads) {
                s.readers--;
            } else {
                s.writer = null;
                if (!op.has(Operation.SILENT)) {
                    s.mutated(graph == null ? 1 : graph.mutations(i));
                }
                if (graph != null) {
                    if (graph.isMarred()) {
                        setFailure(s, graph.failure(i));
                    }
                } else if (failure != null || poisoned > 0) {
                    leaveFailure(op, i, s, failure);
                }
            }
            VarTrace trace = s.trace;
            if (trace != null) {
                trace.ended(op, i, failure);
            }
            if (s.drains != null) {
                countDrains(s, op);
            }
            if (s.head != null) {
                grant(s, v);
            }
        }
    }

    private void leaveFailure(Operation op, int place, VarState s, @Nullable Failure failure) {
        Failure before = s.failure();
        if (op.has(Operation.DELETES)) {
            // No operation can use the variable any more. It keeps its failure, because failure(v) may still be called.
            poisoned -= before == null ? 0 : 1;
        } else if (failure != null) {
            // A skipped operation forwards the failure of its inputs, but a variable that was already poisoned keeps
            // its own failure.
            setFailure(s, op.has(Operation.SKIPPED) && before != null ? before : failure);
        } else if (place >= op.mutatesEnd || op.has(Operation.CLEARS)) {
            setFailure(s, null);
        }
    }

    private void setFailure(VarState s, @Nullable Failure failure) {
        Failure before = s.failure();
        if ((before == null) != (failure == null)) {
            poisoned += failure == null ? -1 : 1;
        }
        s.failure(failure);
    }

    /** Grants a variable to the operations at the head of its queue that may hold it now. */
    private void grant(VarState s, Variable v) {
        while (true) {
            Operation op = s.head;
            if (op == null || s.writer != null) {
                return;
            }
            int place = s.headPlace;
            boolean read = place < op.reads;
            if (!read && s.readers > 0) {
                return;
            }
            Operation following = op.next[place];
            s.head = following;
            if (following != null) {
                s.headPlace = op.nextPlace(place, v, following);
                op.next[place] = null;
            }
            if (s.head == null) {
                s.tail = null;
            }
            if (op.has(Operation.PROBE)) {
                op.link = null;
            } else {
                s.queued--;
            }
            if (read) {
                s.readers++;
            } else {
                s.writer = op;
            }
            if (--op.waiting == 0) {
                ready.accept(op);
            }
            if (!read) {
                return;
            }
        }
    }

    /** Begins a wait until all admitted operations on a variable have ended; returns false if there are none. */
    boolean drain(Drain drain) {
        VarState s = drain.variable.state();
        long pending = (long) s.readers + s.queued + (s.writer == null ? 0 : 1);
        drain.remaining = pending;
        if (pending > 0) {
            drain.next = s.drains;
            s.drains = drain;
        }
        return pending > 0;
    }

    private static void countDrains(VarState s, Operation op) {
        Drain d = s.drains;
        while (d != null) {
            Drain following = d.next;
            if (op.order < d.end && !op.has(Operation.PROBE) && --d.remaining == 0) {
                withdraw(d);
                d.variable.core.drained(d);
            }
            d = following;
        }
    }

    /** Removes such a wait from its variable. */
    static void withdraw(Drain drain) {
        VarState s = drain.variable.state();
        Drain before = null;
        Drain d = s.drains;
        while (d != null && d != drain) {
            before = d;
            d = d.next;
        }
        if (d == null) {
            return;
        }
        if (before == null) {
            s.drains = d.next;
        } else {
            before.next = d.next;
        }
    }

    /** Removes an abandoned wait from its variable's queue. */
    void withdraw(Operation probe) {
        if (probe.waiting == 0) {
            return;
        }
        Variable v = probe.vars[0];
        VarState s = v.state();
        // The predecessor in the queue, unless the predecessor has been granted the variable and this wait is the head.
        Operation before = s.head == probe ? null : probe.link;
        Operation after = probe.next[0];
        int afterPlace = after == null ? 0 : after.indexOf(v);
        if (before == null) {
            s.head = after;
            s.headPlace = afterPlace;
        } else {
            before.next(before.indexOf(v), after, afterPlace);
        }
        probe.link = null;
        if (after != null && after.has(Operation.PROBE)) {
            after.link = before;
        }
        if (after == null) {
            s.tail = before;
            s.tailPlace = before == null ? 0 : before.indexOf(v);
        }
        grant(s, v);
    }

    /** Returns the index of the first poisoned variable that a ready operation reads or mutates, or -1. */
    int poison(Operation op) {
        if (poisoned > 0) {
            for (int i = 0; i < op.mutatesEnd; i++) {
                if (op.vars[i].state().failure() != null) {
                    return i;
                }
            }
        }
        return -1;
    }
}
