package io.seriatim.engine.pending;

import io.seriatim.engine.Engine;
import io.seriatim.engine.EngineSnapshot;
import io.seriatim.engine.Guarded;
import io.seriatim.engine.core.EngineCore;
import io.seriatim.engine.core.ReadyListener;
import io.seriatim.engine.dependency.Operation;
import io.seriatim.engine.dependency.Variable;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Finds every pending operation, what it does and what it waits for.
 *
 * <p>
 * <b>Nothing is missed.</b> What runs or is ready is collected in one step; from then on the tracker tells what becomes
 * ready until the walk is over. Take an operation P that is pending all the time. If it was ready or becomes ready, it
 * is told. Otherwise it waits, at the end of the walk, for an older operation that is pending too, which, by induction
 * over the order, was found; and when the walk looked behind that one, P stood there.
 *
 * <p>
 * Each line is true at the moment at which its operation was found: of all lines the same moment, if the walk took less
 * than one slice.
 */
public final class SnapshotWalk extends PendingWalk implements ReadyListener {
    private static final List<String> JDK = List.of("java.", "jdk.", "sun.");
    /** The engine's packages, and its classes that call bodies or are called by them. */
    private static final String API = Engine.class.getPackageName() + ".";
    private static final List<String> OURS = List.of(Engine.class.getName(), Guarded.class.getName());

    /** One pending operation, as it was found. */
    private static final class Found {
        final Operation op;
        EngineSnapshot.State state;
        @Nullable
        Thread thread;
        /** The class of its body, where a thread runs it. */
        String body = "";
        /** For each variable, the names of those before it, if it does not hold it. */
        final @Nullable String[] waitsFor;

        Found(Operation op, EngineSnapshot.State state) {
            this.op = op;
            this.state = state;
            waitsFor = new String[op.count];
        }
    }

    private Map<Operation, Found> found = Map.of();
    private final Deque<Operation> open = new ArrayDeque<>();
    /** Those that were in a variable's queue when it was walked. */
    private final Map<Variable, List<Operation>> queues = new HashMap<>();
    /** What kept the tracker from telling. */
    private @Nullable Throwable missed;
    SnapshotWalk(EngineCore core) {
        super(core);
    }

    /** Takes a picture; under no lock. */
    public static EngineSnapshot take(EngineCore core) {
        core.intake.admitInSlices();
        SnapshotWalk walk = new SnapshotWalk(core);
        core.lock.enter();
        try {
            core.intake.admitAll();
            walk.begin();
            core.completions.attach(walk);
            try {
                walk.find();
            } finally {
                core.completions.detach(walk);
            }
        } finally {
            core.lock.leave();
        }
        return walk.picture();
    }

    @Override
    public void becameReady(Operation op) {
        try {
            if (isOld(op)) {
                find(op, EngineSnapshot.State.READY);
            }
        } catch (Throwable t) {
            // For want of memory; the tracker is to go on.
            missed = t;
        }
    }

    private void find() {
        // Of its final size: to grow it would take long.
        found = new LinkedHashMap<>((int) Math.min(2 * core.counts.pending() + 16, 1 << 30));
        List<Found> roots = new ArrayList<>();
        core.forEachReady((op, state, thread) -> {
            if (!op.has(Operation.ENDED)) {
                Found f = new Found(op, state);
                f.thread = thread;
                f.body = thread == null || op.body == null ? "" : op.body.getClass().getName();
                roots.add(f);
            }
        });
        for (Found root : roots) {
            Found before = found.putIfAbsent(root.op, root);
            if (before == null) {
                open.add(root.op);
            } else {
                // A worker still has an asynchronous operation whose body has returned.
                before.state = root.state;
            }
            pause();
        }
        Operation op;
        while ((op = open.poll()) != null) {
            forEachFollower(op, (v, follower) -> {
                if (!follower.has(Operation.PROBE)) {
                    queues.computeIfAbsent(v, any -> new ArrayList<>()).add(follower);
                    find(follower, EngineSnapshot.State.WAITING);
                }
            });
            pause();
        }
    }

    private void find(Operation op, EngineSnapshot.State state) {
        if (!op.has(Operation.PROBE) && !found.containsKey(op)) {
            open.add(op);
            found.put(op, new Found(op, state));
        }
    }

    /** What was found, in words; under no lock. */
    private EngineSnapshot picture() {
        if (missed != null) {
            throw new IllegalStateException("The picture of engine '" + core.name + "' is not complete", missed);
        }
        Instant at = Instant.now();
        queues.values().forEach(queue -> queue.sort(Comparator.comparingLong(op -> op.order)));
        Map<Variable, List<String>> holders = holders();
        queues.forEach((v, queue) -> nameThoseBefore(v, queue, holders.getOrDefault(v, List.of())));
        List<Found> inOrder = new ArrayList<>(found.values());
        inOrder.sort(Comparator.comparingLong(f -> f.op.order));
        return new EngineSnapshot(core.name, at, inOrder.stream().map(SnapshotWalk::describe).toList());
    }

    /** For each variable with a queue, those that hold it: they stand before the first in the queue. */
    private Map<Variable, List<String>> holders() {
        Map<Variable, List<String>> holders = new HashMap<>();
        found.values().stream().map(f -> f.op).sorted(Comparator.comparingLong(op -> op.order)).forEach(op -> {
            for (int i = 0; i < op.count; i++) {
                List<Operation> queue = queues.get(op.vars[i]);
                if (queue != null && op.order < queue.get(0).order) {
                    holders.computeIfAbsent(op.vars[i], any -> new ArrayList<>()).add(op.name);
                }
            }
        });
        return holders;
    }

    /**
     * A read waits for the last mutation before it, a mutation for the reads since, or for that mutation if there are
     * none; the first of a queue wait for the holders.
     */
    private void nameThoseBefore(Variable v, List<Operation> queue, List<String> holders) {
        List<String> mutation = holders;
        List<String> reads = new ArrayList<>();
        for (Operation op : queue) {
            int place = op.indexOf(v);
            boolean read = place < op.reads;
            List<String> before = read || reads.isEmpty() ? mutation : reads;
            Found f = found.get(op);
            if (f != null && !before.isEmpty()) {
                f.waitsFor[place] = v.name() + " ← " + String.join(", ", before);
            }
            if (read) {
                reads.add(op.name);
            } else {
                mutation = Collections.singletonList(op.name);
                reads = new ArrayList<>();
            }
        }
    }

    private static EngineSnapshot.PendingOp describe(Found f) {
        Operation op = f.op;
        List<String> waitsFor = new ArrayList<>();
        for (String before : f.waitsFor) {
            if (before != null) {
                waitsFor.add(before);
            }
        }
        return new EngineSnapshot.PendingOp(op.order, op.name, f.state, op.lane, names(op, 0, op.reads),
                names(op, op.reads, op.mutatesEnd),
                names(op, op.mutatesEnd, op.count), waitsFor, thread(f));
    }

    private static List<String> names(Operation op, int from, int to) {
        List<String> names = new ArrayList<>();
        for (int i = from; i < to; i++) {
            names.add(op.vars[i].name());
        }
        return names;
    }

    /** What the thread of a running operation is doing, if it still runs it. */
    private static String thread(Found f) {
        Thread thread = f.thread;
        if (thread == null || f.state != EngineSnapshot.State.RUNNING) {
            return "";
        }
        Thread.State state = thread.getState();
        StackTraceElement[] stack = thread.getStackTrace();
        if (f.op.body == null || state == Thread.State.TERMINATED) {
            return "";
        }
        StringBuilder text = new StringBuilder("'").append(thread.getName()).append("' ").append(state);
        for (StackTraceElement frame : stack) {
            if (isUsers(frame)) {
                return text.append(" at ").append(frame).toString();
            }
        }
        return text.append(" before the first line of ").append(f.body).toString();
    }

    private static boolean isUsers(StackTraceElement frame) {
        String name = frame.getClassName();
        // Some JVMs show the class of a lambda between the engine and the lambda's first line, others hide it.
        return !name.contains("$$Lambda") && JDK.stream().noneMatch(name::startsWith)
                && !isOurs(name);
    }

    private static boolean isOurs(String className) {
        // What stands in a package below the API's is no code of the user's.
        return OURS.contains(className)
                || (className.startsWith(API) && Character.isLowerCase(className.charAt(API.length())));
    }
}
