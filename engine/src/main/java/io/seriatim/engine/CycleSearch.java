package io.seriatim.engine;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Detects a wait inside an operation that could never end, because an awaited operation waits, directly or through
 * others, for the waiting one.
 *
 * <p>
 * <b>Equivalent to one atomic step.</b> A wait begins and is registered, with a number, while the tracker lock is held
 * once. The search follows, may take several slices, and considers only waits with lower numbers.
 * <ul>
 * <li><i>No cycle is missed.</i> A dependency on an earlier operation exists from the push on, so the last edge of a
 * cycle is always the registration of one of its waits. The search for that wait finds all other waits of the cycle
 * registered, and a cycle does not disappear during the search.</li>
 * <li><i>Each cycle is reported once:</i> to its wait with the highest number. The searches for the other waits ignore
 * that one.</li>
 * <li><i>No false report.</i> While the searching operation runs, no operation that waits for it, directly or through
 * others, can end, unless a wait between them is abandoned or the engine is shut down. So before a cycle is reported,
 * the search checks under the tracker lock that all its operations are still pending and all its waits registered.
 * Otherwise the search starts again.</li>
 * </ul>
 *
 * <p>
 * <b>Cost.</b> Most waits are for an operation that was just pushed and only needs a worker: {@link #certainlyEnds}
 * finds that out in a few steps, backward from the awaited operation. Otherwise the search goes forward from the
 * waiting operation. Guarded by the tracker lock.
 */
final class CycleSearch extends PendingWalk {
    /** The maximum number of operations that the backward check visits. */
    private static final int FEW = 16;

    private final Wait wait;
    private final Map<Operation, Operation> reachedFrom = new HashMap<>();
    /** The wait through which each operation was reached, if any. */
    private final Map<Operation, Wait> reachedThrough = new HashMap<>();
    private final Deque<Operation> open = new ArrayDeque<>();
    /** Whether a wait for a derived future is part of the search. */
    private boolean derived;

    CycleSearch(EngineCore core, Wait wait) {
        super(core);
        this.wait = wait;
        derived = wait.on != null;
    }

    /**
     * Returns whether a wait certainly ends: the awaited operations run, are ready, or wait for a few such operations,
     * and none of them contains a wait; under the tracker lock.
     */
    static boolean certainlyEnds(Wait wait) {
        int[] left = {FEW};
        Drain drain = wait.drain;
        Operation target = wait.target;
        if (drain != null) {
            return certainlyEnds(drain.variable, null, left);
        }
        return target == null || certainlyEnds(target, left);
    }

    private static boolean certainlyEnds(Operation op, int[] left) {
        if (op.has(Operation.ENDED)) {
            return true;
        }
        if (op.has(Operation.IN_WAIT) || --left[0] < 0) {
            return false;
        }
        for (int i = 0; op.waiting > 0 && i < op.count; i++) {
            if (isQueued(op, op.vars[i].state()) && !certainlyEnds(op.vars[i], op, left)) {
                return false;
            }
        }
        return true;
    }

    /**
     * Returns whether the holder of a variable and the operations in its queue before {@code end} certainly end. False
     * if there are readers, because a variable does not know which operations read it.
     */
    private static boolean certainlyEnds(Variable v, @Nullable Operation end, int[] left) {
        VarState s = v.state();
        if (s.readers > 0 || (s.writer != null && !certainlyEnds(s.writer, left))) {
            return false;
        }
        for (Operation o = s.head; o != null && o != end; o = o.next[o.indexOf(v)]) {
            if (!certainlyEnds(o, left)) {
                return false;
            }
        }
        return true;
    }

    /**
     * Searches for a cycle, under the tracker lock, and releases the lock between slices.
     *
     * @return the operations of the cycle, each of which waits for its predecessor, from the operation with the wait to
     * the awaited one; empty if there is no cycle
     */
    List<Operation> chain() {
        while (true) {
            begin();
            Operation last = search();
            if (last == null) {
                return List.of();
            }
            List<Operation> chain = chainTo(last);
            // A derived future may be blocked by several operations, which are not all in the chain.
            Collection<Operation> all = derived ? reachedFrom.keySet() : chain;
            if (wait.registered && all.stream().allMatch(this::stillHolds)) {
                return chain;
            }
            if (!wait.registered || wait.waiter.done) {
                return List.of();
            }
        }
    }

    private boolean isReached(Operation op) {
        return reachedFrom.containsKey(op) && !op.has(Operation.ENDED);
    }

    private boolean stillHolds(Operation op) {
        Wait through = reachedThrough.get(op);
        return !op.has(Operation.ENDED) && (through == null || through.registered);
    }

    private @Nullable Operation search() {
        reachedFrom.clear();
        reachedThrough.clear();
        open.clear();
        // The enclosing operations on this thread cannot end before it either.
        for (Operation op = wait.owner; op != null; op = op.link) {
            reach(op, wait.owner, null);
        }
        Operation op;
        while ((op = open.poll()) != null && !wait.isBlockedBy(op, this::isReached)) {
            if (wait.waiter.done) {
                return null;
            }
            if (!op.has(Operation.ENDED)) {
                Operation earlier = op;
                forEachFollower(op, (v, follower) -> reach(follower, earlier, null));
                reachThroughWaits(op);
            }
            pause();
        }
        return op;
    }

    private void reach(Operation op, Operation from, @Nullable Wait through) {
        if (op.core == core && !reachedFrom.containsKey(op)) {
            reachedFrom.put(op, from);
            if (through != null) {
                reachedThrough.put(op, through);
            }
            open.add(op);
        }
    }

    private void reachThroughWaits(Operation op) {
        for (Wait w = Wait.on(op); w != null; w = w.next) {
            reachOwner(w, op);
        }
        for (int i = 0; i < op.count && !op.has(Operation.PROBE); i++) {
            Variable v = op.vars[i];
            Shown seen = shown(v);
            Drain d = seen.drainsSeen ? seen.drains : v.state().drains;
            // The list is ordered from the latest wait to the earliest: if one does not include the operation, neither
            // do those behind it.
            while (d != null && d.end > op.order) {
                Wait w = d.inside;
                if (w != null) {
                    reachOwner(w, op);
                }
                d = d.next;
            }
            seen.drainsSeen = true;
            seen.drains = d;
        }
    }

    private void reachOwner(Wait other, Operation from) {
        if (other.registered && core.rules.counts(other, wait)
                && (other.on == null || other.on.isBlockedBy(this::isReached))) {
            derived |= other.on != null;
            // Includes the enclosing operations on the waiting thread.
            for (Operation o = other.owner; o != null; o = o.link) {
                reach(o, from, other);
            }
        }
    }

    private List<Operation> chainTo(Operation last) {
        List<Operation> chain = new ArrayList<>();
        for (Operation o = last; o != wait.owner; o = reachedFrom.getOrDefault(o, wait.owner)) {
            chain.add(o);
        }
        chain.add(wait.owner);
        Collections.reverse(chain);
        return chain;
    }
}
