package io.seriatim.engine;

import io.seriatim.engine.sync.SpinLock;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The body of an operation that stands for a graph of others. To the tracker it is one operation with the variables of
 * all of them; the order among them is a count of missing predecessors in each, so none of them touches the tracker
 * lock. One run at a time: the operation mutates a variable of its own.
 *
 * <p>
 * Runners execute the nodes: the worker that runs the operation, and helpers, which are operations without variables
 * that a runner with more than one ready node adds to the queue of the lane. A runner goes on with the first operation
 * that becomes ready by its last one, and keeps the others where idle runners take them. The first runner stays until
 * all nodes have ended, so that the operation ends after them, and its variables are released after every body. A
 * helper that finds nothing leaves, and may be called again.
 *
 * <p>
 * Failures are kept for each variable, as the tracker keeps them: a node that reads or mutates a poisoned variable is
 * skipped. The edges order the accesses to the failure of a variable like those to its value.
 */
final class GraphRun implements Body {
    private static final VarHandle UNFINISHED;
    private static final VarHandle AVAILABLE;

    static {
        try {
            UNFINISHED = MethodHandles.lookup().findVarHandle(GraphRun.class, "unfinished", int.class);
            AVAILABLE = MethodHandles.lookup().findVarHandle(GraphRun.class, "available", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** For how long a runner looks for a ready node before it leaves or parks. */
    private static final long SEARCH_NANOS = 50_000;
    private static final long PARK_NANOS = 10_000_000;
    /** How often a runner looks before it yields, and before it checks the time. */
    private static final int SPINS = 1_000;
    private static final int CHECKED = 16;
    /** How often a helper between two runs finds another operation in the queue before it leaves. */
    private static final int PATIENCE = 100;

    private final EngineCore core;
    private final WorkerLane lane;
    private final GraphNode[] nodes;
    private final GraphNode[] roots;
    private final int sinks;
    private final Variable[] vars;
    /** For each variable, the number of nodes that mutate it. */
    private final int[] mutations;
    private final NodeDeque[] deques;
    private final Helper[] helpers;
    /** For each variable, its failure; meaningful if {@link #marred}. */
    private final @Nullable Failure[] failures;

    /** The number of nodes without successors that have not ended. */
    private volatile int unfinished;
    /** The number of helpers that are neither queued nor held by a worker. */
    private volatile int available;
    /** Whether a variable is poisoned, so that nodes check theirs. */
    private volatile boolean marred;
    /** The first runner while it is parked, or null. */
    private volatile @Nullable Thread parked;
    /**
     * The priority of the operation that runs. Published by the deques: the first runner sets it before it adds nodes.
     */
    private int priority;

    /** An operation that lends its worker to the graph. */
    private final class Helper implements Body {
        final Operation op;
        private final int number;
        /** Whether it is queued, or a worker holds it. Guarded by the tracker lock. */
        private boolean called;

        Helper(int number, Operation op) {
            this.number = number;
            this.op = op;
        }

        @Override
        public void run() {
            work(number, ThreadState.here());
        }

        /** May be called again from now on; under the tracker lock, when no queue and no worker holds it. */
        void release() {
            called = false;
            AVAILABLE.getAndAdd(GraphRun.this, 1);
        }
    }

    /**
     * Creates the body.
     *
     * @param whole
     *            the operation whose body it will be, with its variables
     * @param nodes
     *            the nodes in the order of the serial program, connected
     */
    GraphRun(Operation whole, WorkerLane lane, GraphNode[] nodes) {
        core = whole.core;
        this.lane = lane;
        this.nodes = nodes;
        vars = Arrays.copyOf(whole.vars, whole.count);
        roots = Arrays.stream(nodes).filter(GraphNode::isRoot).toArray(GraphNode[]::new);
        sinks = (int) Arrays.stream(nodes).filter(node -> node.successors.length == 0).count();
        mutations = new int[whole.count];
        for (GraphNode node : nodes) {
            for (int i = node.op.reads; i < node.op.count; i++) {
                mutations[node.places[i]]++;
            }
        }
        failures = new Failure[whole.count];
        int runners = Math.min(lane.limit, nodes.length);
        deques = new NodeDeque[runners];
        Arrays.setAll(deques, i -> new NodeDeque(nodes.length));
        helpers = new Helper[runners - 1];
        Arrays.setAll(helpers, i -> helper(i + 1, whole));
        available = helpers.length;
        prepareToRun();
    }

    private Helper helper(int number, Operation whole) {
        Operation op = new Operation(core, whole.name);
        op.lane = whole.lane;
        Helper helper = new Helper(number, op);
        op.seal(helper);
        op.flags |= Operation.HELPER;
        core.dispatcher.route(op);
        return helper;
    }

    /** The first call at each place links it, for which there may be no memory in a run. */
    private void prepareToRun() {
        GraphNode node = nodes[0];
        node.arrive();
        node.renew();
        deques[0].push(node);
        deques[0].pop();
        deques[0].push(node);
        deques[0].steal();
        UNFINISHED.getAndAdd(this, 0);
        AVAILABLE.getAndAdd(this, 0);
    }

    @Override
    public void run() {
        ThreadState state = ThreadState.here();
        Operation whole = state.running;
        priority = whole == null ? 0 : whole.priority;
        boolean poisoned = false;
        for (int i = 0; i < vars.length; i++) {
            failures[i] = vars[i].failure();
            poisoned |= failures[i] != null;
        }
        marred = poisoned;
        unfinished = sinks;
        if (lane.bodyTimes.isTiny()) {
            // Otherwise one worker is taken to suffice.
            lane.bodyTimes.forget();
        }
        NodeDeque mine = deques[0];
        for (int i = roots.length - 1; i >= 0; i--) {
            mine.push(roots[i]);
        }
        if (roots.length > 1) {
            callHelp(mine);
        }
        work(0, state);
    }

    /** Executes nodes until none is left, or, on a helper, until it finds none. */
    private void work(int number, ThreadState state) {
        NodeDeque mine = deques[number];
        GraphNode node = null;
        try {
            while (true) {
                if (node == null) {
                    node = mine.pop();
                }
                if (node == null) {
                    node = search(number, state);
                }
                if (node == null) {
                    return;
                }
                node = execute(node, mine, state);
            }
        } catch (Throwable t) {
            // Only a defect leads here. The nodes behind this one would never run.
            core.markBroken(t);
            throw t;
        }
    }

    /** Executes a node; returns a node that is ready now, or null. */
    private @Nullable GraphNode execute(GraphNode node, NodeDeque mine, ThreadState state) {
        if (core.life.isCancelled()) {
            cancel(node);
        } else {
            Failure poison = marred ? poison(node) : null;
            if (poison != null) {
                skip(node, poison);
            } else {
                run(node, state);
            }
        }
        node.renew();
        GraphNode next = null;
        boolean more = false;
        GraphNode[] successors = node.successors;
        for (int i = 0; i < successors.length; i++) {
            GraphNode successor = successors[i];
            if (successor.arrive()) {
                if (next == null) {
                    next = successor;
                } else {
                    mine.push(successor);
                    more = true;
                }
            }
        }
        if (more || (available > 0 && mine.size() > 0)) {
            callHelp(mine);
        }
        if (successors.length == 0 && (int) UNFINISHED.getAndAdd(this, -1) == 1) {
            LockSupport.unpark(parked);
        }
        return next;
    }

    /** Looks for a ready node of another runner; returns null if this runner must leave. */
    private @Nullable GraphNode search(int number, ThreadState state) {
        long until = System.nanoTime() + SEARCH_NANOS;
        int others = 0;
        for (int looks = 1; core.broken == null; looks++) {
            if (unfinished == 0) {
                // A helper waits for the next run, unless its worker is needed for something else. The operation that
                // follows is in the queue for a moment only, until the worker that ended this one takes it.
                others = lane.queue.isEmpty() ? 0 : others + 1;
                if (number == 0 || others > PATIENCE) {
                    return null;
                }
            } else {
                GraphNode node = steal(number);
                if (node != null) {
                    return node;
                }
            }
            SpinLock.pause(this, looks, SPINS);
            if (looks % CHECKED == 0 && System.nanoTime() - until >= 0) {
                if (number > 0) {
                    return null;
                }
                park(state);
                looks = 0;
                until = System.nanoTime() + SEARCH_NANOS;
            }
        }
        return null;
    }

    private @Nullable GraphNode steal(int number) {
        for (int i = 1; i < deques.length; i++) {
            int other = number + i;
            GraphNode node = deques[other < deques.length ? other : other - deques.length].steal();
            if (node != null) {
                return node;
            }
        }
        return null;
    }

    /** Parks the first runner until a node is ready or all have ended; another worker may take its place meanwhile. */
    private void park(ThreadState state) {
        Worker worker = state.worker;
        if (worker != null) {
            worker.block();
        }
        try {
            // Written before the check, and read by others after they have changed what it reads: see callHelp.
            parked = Thread.currentThread();
            while (unfinished > 0 && !anyReady() && core.broken == null) {
                LockSupport.parkNanos(this, PARK_NANOS);
                // A shutdown cancels what is left of the graph; an interrupt must not make this a busy loop.
                Thread.interrupted();
            }
        } finally {
            parked = null;
            if (worker != null) {
                worker.unblock();
            }
        }
    }

    private boolean anyReady() {
        for (NodeDeque deque : deques) {
            if (deque.size() > 0) {
                return true;
            }
        }
        return false;
    }

    /** Wakes the first runner and calls helpers, since this runner has nodes that others could execute. */
    private void callHelp(NodeDeque mine) {
        VarHandle.fullFence();
        Thread first = parked;
        if (first != null) {
            LockSupport.unpark(first);
        }
        if (available > 0) {
            callHelpers(mine.size());
        }
    }

    private void callHelpers(int most) {
        core.lock.enterShallow();
        try {
            int called = 0;
            for (int i = 0; i < helpers.length && called < most; i++) {
                Helper helper = helpers[i];
                if (!helper.called && !core.life.isCancelled()) {
                    helper.called = true;
                    AVAILABLE.getAndAdd(this, -1);
                    helper.op.priority = priority;
                    core.dispatcher.ready(helper.op);
                    called++;
                }
            }
        } finally {
            try {
                core.lock.leave();
            } catch (OutOfMemoryError e) {
                // No worker can be woken now; without helpers this runner executes all nodes.
                core.pickFailed();
            }
        }
    }

    /**
     * Handles the end of a helper, or that it will not run because the engine was shut down; under the tracker lock.
     */
    static void released(Operation helper) {
        if (helper.body instanceof Helper own) {
            own.release();
        }
    }

    // --- failures

    /** Returns the failure because of which a node must be skipped, or null. */
    private @Nullable Failure poison(GraphNode node) {
        Operation op = node.op;
        if (!op.has(Operation.EVEN_IF_FAILED)) {
            for (int i = 0; i < op.mutatesEnd; i++) {
                Failure failure = failures[node.places[i]];
                if (failure != null) {
                    return failure;
                }
            }
        }
        return null;
    }

    private void run(GraphNode node, ThreadState state) {
        Operation op = node.op;
        Throwable thrown = state.run(op, -1);
        Thread.interrupted();
        if (thrown != null) {
            fail(node, thrown);
        } else if (marred) {
            for (int i = op.mutatesEnd; i < op.count; i++) {
                failures[node.places[i]] = null;
            }
        }
    }

    private void fail(GraphNode node, Throwable thrown) {
        Failure failure = core.execution.failure(node.op, thrown);
        node.failure = failure;
        for (int i = node.op.reads; i < node.op.count; i++) {
            failures[node.places[i]] = failure;
        }
        marred = true;
    }

    /**
     * Passes a failure on to the variables that a skipped node would have mutated, except those that have their own.
     */
    private void skip(GraphNode node, Failure failure) {
        for (int i = node.op.reads; i < node.op.count; i++) {
            if (failures[node.places[i]] == null) {
                failures[node.places[i]] = failure;
            }
        }
        marred = true;
    }

    private void cancel(GraphNode node) {
        Failure failure = core.execution.cancelled(node.op);
        node.failure = failure;
        skip(node, failure);
    }

    /** Returns whether a variable was poisoned during the run. */
    boolean isMarred() {
        return marred;
    }

    /** Returns the failure of a variable at the end of the run. */
    @Nullable
    Failure failure(int place) {
        return failures[place];
    }

    /** Returns how many nodes mutate a variable. */
    int mutations(int place) {
        return mutations[place];
    }

    int size() {
        return nodes.length;
    }

    /** Removes the failure of a node, or returns null if it has not failed. */
    @Nullable
    Failure takeFailure(int index) {
        GraphNode node = nodes[index];
        Failure failure = node.failure;
        if (failure != null) {
            node.failure = null;
        }
        return failure;
    }
}
