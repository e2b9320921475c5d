package io.seriatim.engine;

import java.security.CodeSource;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Takes a snapshot: every pending operation, its state and the operations that it waits for.
 *
 * <p>
 * <b>No operation is error.</b> Running and ready operations are collected in one step; from then until the end of the
 * walk the tracker reports each operation that becomes ready. Let P be an operation that is pending during the whole
 * walk. If P is ready at the start or becomes ready, it is collected or reported. Otherwise P waits, at the end of the
 * walk, for an earlier pending operation. By induction over the push order the walk has found that operation, and P
 * stood behind it when the walk visited its followers.
 *
 * <p>
 * Each line describes its operation at the moment at which it was found. If the walk took less than one slice, that is
 * the same moment for all lines. Guarded by the tracker lock until the walk has ended.
 */
final class SnapshotWalk extends PendingWalk implements ReadyListener {
    private static final List<String> JDK = List.of("java.", "jdk.", "sun.");
    /** The prefix of the names of the engine's classes. */
    private static final String PACKAGE = Engine.class.getPackageName() + ".";

    /**
     * One pending operation in the state in which it was found. Guarded by the tracker lock until the walk has ended.
     */
    private static final class Found {
        final Operation op;
        EngineSnapshot.State state;
        @Nullable
        Thread thread;
        /** The class of its body, if a thread runs it. */
        String body = "";
        /** For each variable, the text that names the predecessors, or null if the operation holds the variable. */
        final @Nullable String[] waitsFor;

        Found(Operation op, EngineSnapshot.State state) {
            this.op = op;
            this.state = state;
            waitsFor = new String[op.count];
        }
    }

    private Map<Operation, Found> found = Map.of();
    private final Deque<Operation> open = new ArrayDeque<>();
    /** The operations in each variable's queue when the walk visited them. */
    private final Map<Variable, List<Operation>> queues = new HashMap<>();
    private String note = "";
    /** The error that prevented the collection of an operation. */
    private @Nullable Throwable error;
    SnapshotWalk(EngineCore core) {
        super(core);
    }

    /** Takes a snapshot; under no lock. */
    static EngineSnapshot take(EngineCore core) {
        core.logReader.admitInSlices();
        SnapshotWalk walk = new SnapshotWalk(core);
        core.lock.enter();
        try {
            core.logReader.admitAll();
            walk.note = core.dispatcher.note();
            walk.begin();
            core.execution.attach(walk);
            try {
                walk.find();
            } finally {
                core.execution.detach(walk);
            }
        } finally {
            core.lock.leave();
        }
        return walk.snapshot();
    }

    @Override
    public void becameReady(Operation op) {
        try {
            if (isOld(op)) {
                find(op, EngineSnapshot.State.READY);
            }
        } catch (Throwable t) {
            // Out of memory: the snapshot fails, but the tracker goes on.
            error = t;
        }
    }

    private void find() {
        // Created with its final size, because resizing it would take long.
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
                // A worker still holds an asynchronous operation whose body has returned.
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

    /** Builds the snapshot from the operations found; under no lock. */
    private EngineSnapshot snapshot() {
        if (error != null) {
            throw new IllegalStateException(
                    "the snapshot of engine '" + core.name + "' is incomplete, for lack of memory or stack", error);
        }
        Instant at = Instant.now();
        queues.values().forEach(queue -> queue.sort(Comparator.comparingLong(op -> op.order)));
        Map<Variable, List<String>> holders = holders();
        queues.forEach((v, queue) -> nameThoseBefore(v, queue, holders.getOrDefault(v, List.of())));
        List<Found> inOrder = new ArrayList<>(found.values());
        inOrder.sort(Comparator.comparingLong(f -> f.op.order));
        return new EngineSnapshot(core.name, at, inOrder.stream().map(SnapshotWalk::describe).toList(), note);
    }

    /**
     * Returns the names of the operations that hold each variable with a queue. Holders stand before the head of the
     * queue.
     */
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
     * Names the predecessors of each queued operation: for a read, the last mutation before it; for a mutation, the
     * reads since the last mutation, or that mutation if there are none; for the head of the queue, the holders.
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

    /**
     * Describes the thread of a running operation, or returns an empty string if the thread does not run it any more.
     */
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
        for (int i = 0; i < stack.length; i++) {
            if (isUsers(stack[i])) {
                text.append(" at ").append(place(stack[i]));
                return state == Thread.State.RUNNABLE || i == 0
                        ? text.toString()
                        : text.append(call(stack, i)).toString();
            }
        }
        return text.append(" before the first line of ").append(f.body).toString();
    }

    /**
     * Names the call in which a thread of the user's code waits. The engine does not know of a wait that is not its
     * own, so no worker takes the place of this one, and on an engine without workers nobody runs operations meanwhile.
     *
     * @param user
     *            the index of the innermost frame of the user's code
     */
    private static String call(StackTraceElement[] stack, int user) {
        int at = user - 1;
        while (at > 0 && isLambda(stack[at])) {
            at--;
        }
        StackTraceElement called = stack[at];
        String name = called.getClassName();
        boolean ours = isOurs(name);
        String type = name.substring(name.lastIndexOf('.') + 1);
        if (ours) {
            type = type.endsWith("Future") ? "CompletableFuture" : "Engine";
        }
        String call = " in " + type + "." + called.getMethodName();
        boolean known = ours || name.equals(Thread.class.getName()) || Arrays.stream(stack).skip(user)
                .anyMatch(frame -> frame.getClassName().equals(Engine.class.getName())
                        && frame.getMethodName().equals("blocking"));
        return known ? call : call + ", which is not a wait of the engine: see Engine.await and Engine.blocking";
    }

    /** Describes a frame without its class loader and module, of which a user's program has one. */
    private static StackTraceElement place(StackTraceElement frame) {
        return new StackTraceElement(frame.getClassName(), frame.getMethodName(), frame.getFileName(),
                frame.getLineNumber());
    }

    /** Some JVMs show the frame of a lambda's class between the engine and the lambda's body, others hide it. */
    private static boolean isLambda(StackTraceElement frame) {
        return frame.getClassName().contains("$$Lambda");
    }

    private static boolean isUsers(StackTraceElement frame) {
        String name = frame.getClassName();
        return !isLambda(frame) && JDK.stream().noneMatch(name::startsWith)
                && !isOurs(name);
    }

    /**
     * Returns whether a class is the engine's. Its tests are in the same package, but not in the same jar or folder.
     */
    private static boolean isOurs(String className) {
        if (!className.startsWith(PACKAGE)) {
            return false;
        }
        try {
            Class<?> type = Class.forName(className, false, Engine.class.getClassLoader());
            return Objects.equals(source(type), source(Engine.class));
        } catch (ClassNotFoundException | LinkageError e) {
            // It cannot be looked up, so its name has to suffice.
            return true;
        }
    }

    private static @Nullable CodeSource source(Class<?> type) {
        return type.getProtectionDomain().getCodeSource();
    }
}
