package io.seriatim.engine;

import io.seriatim.engine.sync.Deadline;
import io.seriatim.engine.sync.StackReserve;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs operations in the threads that push and wait. On the naive engine a push returns when its operation has ended.
 * On the shuffled engine operations run only inside waits, one at a time, in an order chosen by a random generator.
 *
 * <p>
 * A waiting thread <i>helps</i>: it runs ready operations until its wait is over, and parks while none is ready.
 * Guarded by the tracker lock.
 */
final class InlineDispatcher implements Dispatcher {
    private final EngineCore core;
    private final Map<Lane, List<Supplier<?>>> suppliers;
    private final Map<Lane, WorkerStates> states = new HashMap<>();
    /** The generator of the shuffled engine, null on the naive one. */
    private final @Nullable SplittableRandom random;
    private final String kind;

    /** The ready operations on the naive engine. */
    private final ReadyQueue inOrder;
    /** The ready operations on the shuffled engine. */
    private ReadyTree toPick = new ReadyTree();
    /** The threads that help. A thread that waits inside an operation that it runs as a helper is listed twice. */
    private @Nullable Helper helpers;
    /** On the shuffled engine, the only thread that may run operations at present. */
    private @Nullable Thread runner;
    private boolean changed;
    private long completedSeen;

    /**
     * One call of {@link #help}, allocated before any state changes, so that neither running nor parking allocates.
     * Guarded by the tracker lock.
     */
    private static final class Helper {
        final Thread thread = Thread.currentThread();
        final ThreadState state = ThreadState.here();
        @Nullable
        Operation running;
        boolean parked;
        @Nullable
        Helper next;
        @Nullable
        Helper previous;
    }

    /**
     * Creates a dispatcher.
     *
     * @param seed
     *            the seed of the shuffled engine, or null for the naive one
     */
    InlineDispatcher(EngineCore core, Map<Lane, List<Supplier<?>>> suppliers, @Nullable Long seed) {
        this.core = core;
        inOrder = new ReadyQueue(core.firstIndex);
        this.suppliers = suppliers;
        random = seed == null ? null : new SplittableRandom(seed);
        kind = seed == null ? "naive" : "shuffled, seed " + seed;
    }

    @Override
    public void route(Operation op) {
        op.lane = LaneDispatcher.queueFor(op.lane, op.kind);
    }

    @Override
    public @Nullable Worker pushed(Operation op) {
        return null;
    }

    @Override
    public void call(Worker worker) {
        throw new IllegalStateException("no workers here");
    }

    @Override
    public void afterPush(Operation op) {
        if (random == null && ThreadState.runningOf(core) == null) {
            helpUninterruptibly(op);
        }
    }

    /** Runs ready operations until one of them, if given, has ended and none is ready. */
    private void helpUninterruptibly(@Nullable Operation awaited) {
        boolean aside = Thread.interrupted();
        try {
            help(awaited, null, Deadline.NEVER);
        } catch (InterruptedException | TimeoutException e) {
            throw new IllegalStateException("help without a waiter was interrupted or timed out", e);
        } finally {
            if (aside) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public void ready(Operation op) {
        changed = true;
        if (random == null) {
            inOrder.add(op);
        } else {
            toPick.add(op);
        }
    }

    private @Nullable Operation pick(Thread me) {
        if (random == null) {
            return inOrder.poll();
        }
        if (toPick.size() == 0 || (runner != null && !runner.equals(me))) {
            return null;
        }
        runner = me;
        return toPick.remove(random.nextInt(toPick.size()));
    }

    private boolean isIdle() {
        return inOrder.isEmpty() && toPick.size() == 0;
    }

    @Override
    public void harvest() {
        // There are no batches: each operation ends at once.
    }

    @Override
    public boolean balance() {
        if (core.counts.completed() != completedSeen) {
            completedSeen = core.counts.completed();
            changed = true;
        }
        boolean runs = false;
        if (changed) {
            changed = false;
            wakeParked();
            runs = isLeftAlone();
        }
        return runs || core.lock.hasDeferred();
    }

    private void wakeParked() {
        for (Helper helper = helpers; helper != null; helper = helper.next) {
            if (helper.parked) {
                LockSupport.unpark(helper.thread);
            }
        }
    }

    @Override
    public void leftToOthers() {
        wakeParked();
    }

    /** Returns whether operations are ready that no waiting thread will run. */
    private boolean isLeftAlone() {
        return helpers == null && !isIdle() && (random == null || core.life.isCancelled());
    }

    @Override
    public boolean hasWorkers() {
        return false;
    }

    @Override
    public void left() {
        core.lock.enter();
        boolean runs = isLeftAlone();
        core.lock.exit();
        if (runs) {
            helpUninterruptibly(null);
        }
    }

    @Override
    public void await(Waiter waiter, long deadline) throws InterruptedException, TimeoutException {
        help(null, waiter, deadline);
    }

    private static boolean isOver(@Nullable Operation op, @Nullable Waiter waiter) {
        return waiter != null ? waiter.done : op == null || op.has(Operation.ENDED);
    }

    /**
     * Runs ready operations until {@code awaited} has ended or {@code waiter} is done. Without a waiter, goes on after
     * that until no operation is ready.
     *
     * <p>
     * <b>Interrupts.</b> No body and no callback sees the interrupt flag of its caller or of the body before it. An
     * interrupt that comes while this thread runs a body belongs to that body, as on a worker: it cannot be told from
     * one that the body has set itself. An interrupt that comes at another time ends a wait; without a waiter the
     * flag is set again at the end.
     *
     * <p>
     * Any exception leaves this method's {@code try} block while the thread holds the tracker lock: methods that
     * release the lock temporarily always acquire it again.
     */
    private void help(@Nullable Operation awaited, @Nullable Waiter waiter, long deadline)
            throws InterruptedException, TimeoutException {
        Helper me = new Helper();
        boolean interrupted = false;
        core.lock.enter();
        boolean nested = me.thread.equals(runner);
        add(me);
        try {
            while (true) {
                if (!isOver(awaited, waiter)) {
                    core.checkWhole();
                } else if (core.broken != null) {
                    return;
                }
                core.logReader.admitAll();
                boolean over = isOver(awaited, waiter);
                if (over && waiter != null) {
                    return;
                }
                if (Thread.interrupted()) {
                    if (waiter != null) {
                        throw new InterruptedException("while waiting on engine '" + core.name + "'");
                    }
                    interrupted = true;
                }
                if (!over && deadline != Deadline.NEVER && System.nanoTime() - deadline >= 0) {
                    throw new TimeoutException("not done within the given time");
                }
                // An operation that is removed must be run, so check first that the stack suffices for everything but
                // the body, including nested checks.
                StackReserve.checkTwice();
                Operation op = pick(me.thread);
                if (op != null) {
                    run(op, me);
                } else if (over) {
                    return;
                } else if (core.lock.hasDeferred()) {
                    callDeferred();
                } else {
                    giveUpRunning(nested, me.thread);
                    park(me, deadline);
                }
            }
        } finally {
            remove(me);
            giveUpRunning(nested, me.thread);
            if (!core.logReader.hasUnadmitted()) {
                core.log.forget();
            }
            try {
                core.lock.leave();
            } finally {
                if (interrupted) {
                    Thread.currentThread().interrupt();
                }
            }
        }
    }

    private void add(Helper helper) {
        Helper first = helpers;
        helper.next = first;
        if (first != null) {
            first.previous = helper;
        }
        helpers = helper;
    }

    private void remove(Helper helper) {
        Helper before = helper.previous;
        Helper after = helper.next;
        if (before == null) {
            helpers = after;
        } else {
            before.next = after;
        }
        if (after != null) {
            after.previous = before;
        }
    }

    private void giveUpRunning(boolean nested, Thread me) {
        if (!nested && me.equals(runner)) {
            runner = null;
            changed = true;
        }
    }

    /** Called and returns under the tracker lock. */
    private void run(Operation op, Helper me) {
        me.running = op;
        core.execution.starts(op);
        // Other threads may help, but this one calls no callbacks while it holds the operation.
        balance();
        core.lock.exit();
        Throwable thrown;
        try {
            thrown = me.state.run(op, 0);
        } catch (Throwable t) {
            // The stack was exhausted before the body began.
            thrown = t;
        }
        core.lock.enterShallow();
        me.running = null;
        // Only now can no shutdown interrupt this thread for the operation any more.
        me.state.clearInterrupt();
        core.logReader.admitAll();
        core.execution.ran(op, thrown);
        try {
            core.lock.leave();
        } finally {
            core.lock.enterShallow();
        }
    }

    /** Calls one deferred callback; called and returns under the tracker lock. */
    private void callDeferred() {
        Callback callback = core.lock.pollDeferred();
        core.lock.exit();
        try {
            if (callback != null) {
                core.guard(callback);
            }
        } finally {
            core.lock.enterShallow();
        }
    }

    /**
     * Parks until woken; called and returns under the tracker lock. Wakes up from time to time, because a broken engine
     * may fail to wake its waiting threads.
     */
    private void park(Helper me, long deadline) {
        me.parked = true;
        try {
            core.lock.leave();
            LockSupport.parkNanos(this,
                    deadline == Deadline.NEVER ? LOOK_NANOS : Math.min(LOOK_NANOS, deadline - System.nanoTime()));
        } finally {
            core.lock.enterShallow();
            me.parked = false;
        }
    }

    @Override
    public void forEach(Look look) {
        inOrder.forEach(op -> look.at(op, EngineSnapshot.State.READY, null));
        toPick.forEach(op -> look.at(op, EngineSnapshot.State.READY, null));
        for (Helper helper = helpers; helper != null; helper = helper.next) {
            if (helper.running != null) {
                look.at(helper.running, EngineSnapshot.State.RUNNING, helper.thread);
            }
        }
    }

    @Override
    public List<? extends OpSource> takeQueued() {
        ReadyTree fresh = new ReadyTree();
        ReadyQueue queued = new ReadyQueue(0);
        List<? extends OpSource> taken = List.of(toPick, queued);
        toPick = fresh;
        inOrder.moveTo(queued);
        return taken;
    }

    @Override
    public void interruptRunning() {
        for (Helper helper = helpers; helper != null; helper = helper.next) {
            if (helper.running != null && helper.running.kind != OpKind.DELETE) {
                helper.thread.interrupt();
            }
        }
    }

    @Override
    public WorkerStates states(Operation op) {
        synchronized (states) {
            return states.computeIfAbsent(op.lane, lane -> new WorkerStates(suppliers.getOrDefault(lane, List.of())));
        }
    }

    @Override
    public void terminate() {
        List<WorkerStates> closed;
        synchronized (states) {
            closed = List.copyOf(states.values());
        }
        closed.forEach(s -> s.close(core));
    }

    @Override
    public boolean join(long deadline) {
        return true;
    }

    @Override
    public String note() {
        return random == null || helpers != null || isIdle()
                ? ""
                : "no thread runs them, because none is in a wait of this engine: wait with its methods, with get "
                        + "and join of its futures, and for any other stage with Engine.await";
    }

    @Override
    public String kind() {
        return kind;
    }

    @Override
    public int threads() {
        return 0;
    }
}
