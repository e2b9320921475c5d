package io.seriatim.engine;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs operations in the threads that push and wait. Naive: a push returns when its operation has ended. Shuffled: operations run only where someone waits, one at a
 * time, picked by a generator.
 *
 * <p>
 * A thread <i>helps</i>: it runs what is ready until what it waits for is done, and parks while nothing is ready. All state is owned by the tracker's role.
 */
final class InlineDispatcher implements Dispatcher {
    private final EngineCore core;
    private final Map<Lane, List<Supplier<?>>> suppliers;
    private final Map<Lane, WorkerStates> states = new HashMap<>();
    /** Null on the naive engine. */
    private final @Nullable SplittableRandom random;

    private final ReadyQueue inOrder;
    private final List<Operation> toPick = new ArrayList<>();
    private final Map<Operation, Thread> running = new HashMap<>();
    private final List<Thread> parked = new ArrayList<>();
    private int helpers;
    /** On the shuffled engine, the only thread that may run operations now. */
    private @Nullable Thread runner;
    private boolean changed;
    private long completedSeen;

    InlineDispatcher(EngineCore core, Map<Lane, List<Supplier<?>>> suppliers, @Nullable SplittableRandom random) {
        this.core = core;
        inOrder = new ReadyQueue(core.firstIndex);
        this.suppliers = suppliers;
        this.random = random;
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
        if (random == null && Workplace.runningOf(core) == null) {
            boolean interrupted = false;
            while (true) {
                try {
                    help(() -> op.has(Operation.ENDED), FOREVER, true);
                    break;
                } catch (InterruptedException e) {
                    interrupted = true;
                } catch (TimeoutException e) {
                    throw Waits.endless(e);
                }
            }
            if (interrupted) {
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

    private @Nullable Operation pick() {
        if (random == null) {
            return inOrder.poll();
        }
        Thread me = Thread.currentThread();
        if (toPick.isEmpty() || (runner != null && !runner.equals(me))) {
            return null;
        }
        runner = me;
        int at = random.nextInt(toPick.size());
        Operation picked = toPick.get(at);
        Operation last = toPick.remove(toPick.size() - 1);
        if (picked != last) {
            toPick.set(at, last);
        }
        return picked;
    }

    private boolean isIdle() {
        return inOrder.isEmpty() && toPick.isEmpty();
    }

    @Override
    public void harvest() {
        // Operations end one by one here.
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
            parked.forEach(LockSupport::unpark);
            runs = isLeftAlone();
        }
        return runs || core.hasDeferred();
    }

    /** Whether no one waits for what a completion, or a shutdown, has made ready. */
    private boolean isLeftAlone() {
        return helpers == 0 && !isIdle() && (random == null || core.life.isCancelled());
    }

    @Override
    public boolean hasWorkers() {
        return false;
    }

    @Override
    public void left() {
        core.enter();
        boolean runs = isLeftAlone();
        core.exit();
        if (runs) {
            runReady();
        }
    }

    private void runReady() {
        try {
            help(() -> true, FOREVER, true);
        } catch (InterruptedException | TimeoutException e) {
            throw new IllegalStateException("help that does not wait was interrupted", e);
        }
    }

    @Override
    public void await(Waiter waiter, long deadline) throws InterruptedException, TimeoutException {
        help(() -> waiter.done, deadline, false);
    }

    /**
     * Runs ready operations until something is done.
     *
     * @param all
     *            whether to go on then until nothing is ready
     */
    private void help(BooleanSupplier done, long deadline, boolean all) throws InterruptedException, TimeoutException {
        Thread me = Thread.currentThread();
        core.enter();
        boolean nested = me.equals(runner);
        helpers++;
        try {
            while (true) {
                core.intake.admitAll();
                boolean over = done.getAsBoolean();
                if (over && !all) {
                    return;
                }
                if (!over && deadline != FOREVER && System.nanoTime() - deadline >= 0) {
                    throw new TimeoutException("not done within the given time");
                }
                // What is picked is to be run: there is room for all but the body itself.
                Reserve.take();
                Operation op = pick();
                if (op != null) {
                    run(op, me);
                } else if (over) {
                    return;
                } else if (core.hasDeferred()) {
                    callDeferred();
                } else {
                    giveUpRunning(nested);
                    park(me, deadline);
                }
            }
        } finally {
            helpers--;
            giveUpRunning(nested);
            if (!core.intake.hasUnadmitted()) {
                core.log.forget();
            }
            core.leave();
        }
    }

    private void giveUpRunning(boolean nested) {
        if (!nested && Thread.currentThread().equals(runner)) {
            runner = null;
            changed = true;
        }
    }

    /** Called and returns under the role. */
    private void run(Operation op, Thread me) {
        try {
            running.put(op, me);
        } catch (Throwable t) {
            // No memory to run it now.
            running.remove(op);
            if (random == null) {
                inOrder.putBack(op);
            } else {
                toPick.add(op);
            }
            throw t;
        }
        core.starts(op);
        // Others may help, but nothing is told here: this thread holds the operation.
        balance();
        core.exit();
        Throwable thrown;
        try {
            thrown = Workplace.here().run(op, 0);
        } catch (Throwable t) {
            // The stack ended before the body could begin.
            thrown = t;
        }
        core.enterShallow();
        running.remove(op);
        core.intake.admitAll();
        core.ran(op, thrown);
        core.leave();
        core.enter();
    }

    /** What another wait of this thread has put back; called and returns under the role. */
    private void callDeferred() {
        Callback callback = core.pollDeferred();
        core.exit();
        if (callback != null) {
            core.guard(callback);
        }
        core.enter();
    }

    /** Called and returns under the role. */
    private void park(Thread me, long deadline) throws InterruptedException {
        parked.add(me);
        core.leave();
        if (deadline == FOREVER) {
            LockSupport.park(this);
        } else {
            LockSupport.parkNanos(this, deadline - System.nanoTime());
        }
        boolean interrupted = Thread.interrupted();
        core.enter();
        parked.remove(me);
        if (interrupted) {
            throw new InterruptedException("while waiting on engine '" + core.name + "'");
        }
    }

    @Override
    public void forEach(Look look) {
        inOrder.forEach(op -> look.at(op, EngineSnapshot.State.READY, null));
        toPick.forEach(op -> look.at(op, EngineSnapshot.State.READY, null));
        running.forEach((op, thread) -> look.at(op, EngineSnapshot.State.RUNNING, thread));
    }

    @Override
    public List<Operation> takeQueued() {
        List<Operation> taken = new ArrayList<>(toPick);
        toPick.clear();
        Operation op;
        while ((op = inOrder.poll()) != null) {
            taken.add(op);
        }
        return taken;
    }

    @Override
    public void interruptRunning() {
        running.values().forEach(Thread::interrupt);
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
    public int threads() {
        return 0;
    }
}
