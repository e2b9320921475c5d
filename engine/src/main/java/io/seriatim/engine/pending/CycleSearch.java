package io.seriatim.engine.pending;

import io.seriatim.engine.core.EngineCore;
import io.seriatim.engine.dependency.Drain;
import io.seriatim.engine.dependency.Operation;
import io.seriatim.engine.dependency.VarState;
import io.seriatim.engine.dependency.Variable;
import io.seriatim.engine.dependency.Wait;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Finds out whether a wait inside an operation could never end: whether what it waits for waits for the operation
 * itself.
 *
 * <p>
 * <b>In effect one step.</b> A wait is registered, with a number, in the same step under the tracker lock in which it
 * begins. The search comes after, may take several slices, and counts only waits with lower numbers.
 * <ul>
 * <li><i>No cycle is missed.</i> An operation waits for older ones only, and that is settled when it is pushed; so the
 * last part of a cycle to come into being is the registration of one of its waits. The search of that wait finds all
 * others registered, and a cycle does not go away while it searches.</li>
 * <li><i>Each cycle is told once:</i> to the wait with the highest number in it. The others do not count that one.</li>
 * <li><i>No false report.</i> While the searching operation runs, nothing ends that waits for it, directly or through
 * others, unless a wait between them is given up, or the engine is shut down. So before a cycle is told, all its
 * operations must still be pending and its waits registered, at one moment under the tracker lock; if not, the search
 * begins anew.</li>
 * </ul>
 *
 * <p>
 * <b>Cost.</b> Most waits are for what was just pushed and only needs a worker: {@link #isFree} sees that in a few
 * steps, backward from what is waited for. Otherwise the search goes forward from the operation that waits.
 */
public final class CycleSearch extends PendingWalk {
    /** How many operations are looked at backward. */
    private static final int FEW = 16;

    private final Wait wait;
    private final Map<Operation, Operation> reachedFrom = new HashMap<>();
    /** The waits through which operations were reached. */
    private final Map<Operation, Wait> reachedThrough = new HashMap<>();
    private final Deque<Operation> open = new ArrayDeque<>();

    CycleSearch(EngineCore core, Wait wait) {
        super(core);
        this.wait = wait;
    }

    /**
     * Whether it is plain that a wait ends: what it waits for runs or is ready, or waits for a few such operations,
     * none of which waits inside; under the tracker lock.
     */
    static boolean isFree(Wait wait) {
        int[] left = {FEW};
        Drain drain = wait.drain;
        Operation target = wait.target;
        if (drain != null) {
            return isFree(drain.variable, null, left);
        }
        return target == null || isFree(target, left);
    }

    private static boolean isFree(Operation op, int[] left) {
        if (op.has(Operation.ENDED)) {
            return true;
        }
        if (op.has(Operation.IN_WAIT) || --left[0] < 0) {
            return false;
        }
        for (int i = 0; op.waiting > 0 && i < op.count; i++) {
            if (isQueued(op, op.vars[i].state()) && !isFree(op.vars[i], op, left)) {
                return false;
            }
        }
        return true;
    }

    /**
     * Whether those that hold a variable, and those in its queue before some operation, end. Who reads it is not known.
     */
    private static boolean isFree(Variable v, @Nullable Operation end, int[] left) {
        VarState s = v.state();
        if (s.readers > 0 || (s.writer != null && !isFree(s.writer, left))) {
            return false;
        }
        for (Operation o = s.head; o != null && o != end; o = o.next[o.indexOf(v)]) {
            if (!isFree(o, left)) {
                return false;
            }
        }
        return true;
    }

    /**
     * Searches, under the tracker lock, giving it back now and then.
     *
     * @return operations that each wait for the one before, from the one that waits inside to one that it waits for;
     * empty if it does not wait for itself
     */
    List<Operation> chain() {
        while (true) {
            begin();
            Operation last = search();
            if (last == null) {
                return List.of();
            }
            List<Operation> chain = chainTo(last);
            if (wait.registered && chain.stream().allMatch(this::stillHolds)) {
                return chain;
            }
            if (!wait.registered || wait.waiter.done) {
                return List.of();
            }
        }
    }

    private boolean stillHolds(Operation op) {
        Wait through = reachedThrough.get(op);
        return !op.has(Operation.ENDED) && (through == null || through.registered);
    }

    private @Nullable Operation search() {
        reachedFrom.clear();
        reachedThrough.clear();
        open.clear();
        // What this thread interrupted to run it cannot end before it either.
        for (Operation op = wait.owner; op != null; op = op.link) {
            reach(op, wait.owner, null);
        }
        Operation op;
        while ((op = open.poll()) != null && !wait.isFor(op)) {
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
            // The latest first: those behind the first one that does not wait for the operation do not either.
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
        if (other.registered && core.rules.counts(other, wait)) {
            // And what the waiting thread interrupted to run the owner.
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
