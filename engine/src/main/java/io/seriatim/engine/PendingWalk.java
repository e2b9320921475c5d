package io.seriatim.engine;

import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * Walks the pending operations: from those that are ready, over the queues of the variables they hold, to those that wait for them. So the engine need keep no list of
 * what is pending. Under the tracker's role, with the log taken in.
 */
final class PendingWalk {
    private final EngineCore core;
    /** What was shown of each variable's queue: always from somewhere to its end. */
    private final Map<Variable, Set<Operation>> shown = new HashMap<>();

    PendingWalk(EngineCore core) {
        this.core = core;
    }

    /** Every pending operation and what it does; waits left out. */
    Map<Operation, EngineSnapshot.State> states() {
        Map<Operation, EngineSnapshot.State> states = new HashMap<>();
        Deque<Operation> open = new ArrayDeque<>();
        core.forEachReady((op, state) -> {
            if (!op.has(Operation.ENDED) && states.put(op, state) == null) {
                open.add(op);
            }
        });
        Operation op;
        while ((op = open.poll()) != null) {
            forEachFollower(op, follower -> {
                if (states.putIfAbsent(follower, EngineSnapshot.State.WAITING) == null) {
                    open.add(follower);
                }
            });
        }
        states.keySet().removeIf(o -> o.has(Operation.PROBE));
        return states;
    }

    /**
     * How one operation depends on another: those that each wait for the one before, from the first to the last; empty if it does not.
     *
     * @param from
     *            an operation that runs and is about to wait
     * @param to
     *            what it waits for
     * @param waits
     *            the waits of others
     */
    List<Operation> chain(Operation from, Predicate<Operation> to, List<Waits.Wait> waits) {
        Map<Operation, Operation> reachedFrom = new HashMap<>();
        Deque<Operation> open = new ArrayDeque<>();
        // What this thread interrupted to run it cannot end before it either.
        for (Operation op = from; op != null; op = op.link) {
            if (op.core == core && reachedFrom.put(op, from) == null) {
                open.add(op);
            }
        }
        Operation op;
        while ((op = open.poll()) != null && !to.test(op)) {
            Operation earlier = op;
            Consumer<Operation> reach = follower -> {
                if (reachedFrom.putIfAbsent(follower, earlier) == null) {
                    open.add(follower);
                }
            };
            forEachFollower(op, reach);
            for (Waits.Wait wait : waits) {
                if (wait.target().test(op)) {
                    // And what the waiting thread interrupted to run the owner.
                    for (Operation o = wait.owner(); o != null; o = o.link) {
                        reach.accept(o);
                    }
                }
            }
        }
        List<Operation> chain = new ArrayList<>();
        if (op != null) {
            for (Operation o = op; o != from; o = reachedFrom.getOrDefault(o, from)) {
                chain.add(o);
            }
            chain.add(from);
            Collections.reverse(chain);
        }
        return chain;
    }

    /** Those that wait for an operation in the queue of one of its variables, except those that were shown before. */
    private void forEachFollower(Operation op, Consumer<Operation> look) {
        for (int i = 0; i < op.count; i++) {
            Variable v = op.vars[i];
            Set<Operation> seen = shown.computeIfAbsent(v, any -> new HashSet<>());
            if (seen.contains(op)) {
                // Then so were those behind it.
                continue;
            }
            Operation o = v.state().head;
            if (op.waiting > 0 && isQueued(op, v)) {
                // It waits itself: those before it do not wait for it, nor do the reads beside it.
                o = op.next[i];
                while (i < op.reads && o != null && o.indexOf(v) < o.reads) {
                    o = o.next[o.indexOf(v)];
                }
            }
            for (; o != null && seen.add(o); o = o.next[o.indexOf(v)]) {
                look.accept(o);
            }
        }
    }

    private static boolean isQueued(Operation op, Variable v) {
        Operation o = v.state().head;
        while (o != null && o != op) {
            o = o.next[o.indexOf(v)];
        }
        return o == op;
    }

    EngineSnapshot snapshot() {
        Map<Operation, EngineSnapshot.State> states = states();
        Map<Variable, Map<Operation, String>> ahead = new HashMap<>();
        List<Operation> inOrder = states.keySet().stream().sorted(Comparator.comparingLong(op -> op.order)).toList();
        for (Operation op : inOrder) {
            for (int i = 0; i < op.count; i++) {
                ahead.computeIfAbsent(op.vars[i], PendingWalk::queueOf);
            }
        }
        Map<Variable, List<String>> holders = new HashMap<>();
        for (Operation op : inOrder) {
            for (int i = 0; i < op.count; i++) {
                if (!ahead.getOrDefault(op.vars[i], Map.of()).containsKey(op)) {
                    holders.computeIfAbsent(op.vars[i], v -> new ArrayList<>()).add(op.name);
                }
            }
        }
        List<EngineSnapshot.PendingOp> operations = new ArrayList<>();
        for (Operation op : inOrder) {
            List<String> waitsFor = new ArrayList<>();
            for (int i = 0; i < op.count; i++) {
                Variable v = op.vars[i];
                String before = ahead.getOrDefault(v, Map.of()).get(op);
                if (before != null) {
                    waitsFor.add(v.name() + " ← " + (before.isEmpty() ? String.join(", ", holders.getOrDefault(v, List.of())) : before));
                }
            }
            operations.add(new EngineSnapshot.PendingOp(op.order, op.name, states.getOrDefault(op, EngineSnapshot.State.WAITING), op.lane,
                    names(op, 0, op.reads), names(op, op.reads, op.mutatesEnd), names(op, op.mutatesEnd, op.count), waitsFor));
        }
        return new EngineSnapshot(core.name, Instant.now(), operations);
    }

    /** For each operation in a variable's queue the name of the one before it, nothing for the first. */
    private static Map<Operation, String> queueOf(Variable v) {
        Map<Operation, String> queue = new HashMap<>();
        String before = "";
        for (Operation o = v.state().head; o != null; o = o.next[o.indexOf(v)]) {
            queue.put(o, before);
            before = o.name;
        }
        return queue;
    }

    private static List<String> names(Operation op, int from, int to) {
        List<String> names = new ArrayList<>();
        for (int i = from; i < to; i++) {
            names.add(op.vars[i].name());
        }
        return names;
    }
}
