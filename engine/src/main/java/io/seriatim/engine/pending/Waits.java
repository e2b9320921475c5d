package io.seriatim.engine.pending;

import io.seriatim.engine.OperationFailedException;
import io.seriatim.engine.core.EngineCore;
import io.seriatim.engine.core.FutureWaits;
import io.seriatim.engine.core.LogReader;
import io.seriatim.engine.dependency.Drain;
import io.seriatim.engine.dependency.Epoch;
import io.seriatim.engine.dependency.Failure;
import io.seriatim.engine.dependency.OpFuture;
import io.seriatim.engine.dependency.Operation;
import io.seriatim.engine.dependency.Variable;
import io.seriatim.engine.dependency.Wait;
import io.seriatim.engine.dependency.Waiter;
import io.seriatim.engine.sync.Deadline;
import io.seriatim.engine.thread.Workplace;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The waits of one engine. A wait for a variable's mutations is a probe: a read in the variable's queue that ends as
 * soon as it is ready; one for all its operations is a {@link Drain}. Inside an operation, a wait is begun and
 * registered in one step under the tracker lock; {@link CycleSearch} then tells one of several that wait for each
 * other.
 */
public final class Waits implements FutureWaits {
    /** How long the workers may take for a part of the log before a waiting thread takes it in itself. */
    private static final long LOOK_NANOS = 1_000_000;

    private final EngineCore core;

    public Waits(EngineCore core) {
        this.core = core;
    }

    /** Waits for a variable's earlier mutations; returns the failure that it carries then. */
    @Nullable
    public Failure forMutations(Variable v, long deadline) throws InterruptedException, TimeoutException {
        Waiter waiter = waiter(v, "waitToRead");
        Operation probe = new Operation(core, "waitToRead");
        probe.flags = Operation.PROBE | Operation.IMMEDIATE | Operation.SILENT | Operation.EVEN_IF_FAILED;
        probe.reads(v);
        probe.attachment = waiter;
        probe.next = new Operation[1];
        v.state();
        await(call("waitToRead", v), probe, null, waiter, deadline, () -> core.admit(probe),
                () -> core.withdraw(probe));
        return waiter.failure;
    }

    /** Waits for all of a variable's earlier operations. */
    public void forOperations(Variable v, long deadline) throws InterruptedException, TimeoutException {
        Drain drain = new Drain(v, waiter(v, "waitToWrite"));
        v.state();
        await(call("waitToWrite", v), null, drain, drain.waiter, deadline, () -> core.drain(drain),
                () -> core.withdraw(drain));
    }

    private static String call(String method, Variable v) {
        return method + " of variable '" + v.name() + "'";
    }

    private Waiter waiter(Variable v, String method) throws InterruptedException {
        core.checkNotDeleted(v, method + " cannot wait for it");
        if (Thread.interrupted()) {
            throw new InterruptedException(call(method, v));
        }
        return new Waiter();
    }

    /**
     * Waits for one operation or for all of a variable.
     *
     * @param begin
     *            begins the wait, once all that was pushed before has been taken in; may end it at once
     * @param end
     *            gives it up, or does nothing if it has ended
     */
    private void await(String call, @Nullable Operation target, @Nullable Drain drain, Waiter waiter, long deadline,
            Runnable begin,
            Runnable end) throws InterruptedException, TimeoutException {
        Operation owner = Workplace.runningOf(core);
        Wait wait = owner == null ? null : new Wait(owner, waiter, target, drain);
        // To find a cycle, or to tell at once, all has to be known.
        boolean all = wait != null || (deadline != Deadline.NEVER && deadline - System.nanoTime() <= 0);
        if (all) {
            core.intake.admitInSlices();
        }
        LogReader.Cut cut = null;
        boolean over = false;
        boolean free = true;
        // Where there was not enough stack to begin, there is not enough to end it either.
        boolean entered = false;
        try {
            core.lock.enter();
            entered = true;
            try {
                if (all) {
                    core.intake.admitAll();
                }
                cut = core.intake.whenAdmitted(begin);
                over = waiter.done;
                if (wait != null && !over) {
                    register(wait);
                    free = CycleSearch.isFree(wait);
                }
            } finally {
                core.lock.leave();
            }
            if (over) {
                return;
            }
            if (!free && wait != null) {
                refuseIfEndless(wait, call);
            }
            untilNear(cut, waiter, deadline);
            core.await(waiter, deadline);
        } finally {
            if (entered && !over) {
                end(cut, end, wait);
            }
        }
    }

    private void end(LogReader.@Nullable Cut cut, Runnable end, @Nullable Wait wait) {
        core.lock.enterShallow();
        try {
            core.intake.withdraw(cut);
            end.run();
            if (wait != null) {
                unregister(wait);
            }
        } finally {
            core.lock.leave();
        }
    }

    @Override
    public void forFuture(OpFuture<?> future, Operation op, long deadline)
            throws InterruptedException, TimeoutException {
        if (Thread.interrupted()) {
            throw new InterruptedException("get of the future of operation '" + op.name + "'");
        }
        Waiter waiter = new Waiter();
        Operation owner = Workplace.runningOf(core);
        Wait wait = owner == null ? null : new Wait(owner, waiter, op, null);
        try {
            if (wait != null && !isFree(wait)) {
                refuseIfEndless(wait, "get of the future of operation '" + op.name + "'");
            }
            future.addWaiter(waiter);
            core.await(waiter, deadline);
        } finally {
            future.removeWaiter(waiter);
            if (wait != null && wait.registered) {
                end(null, () -> {
                }, wait);
            }
        }
    }

    /** Registers a wait for a future; returns whether it is plain that it ends. */
    private boolean isFree(Wait wait) {
        core.intake.admitInSlices();
        core.lock.enter();
        try {
            core.intake.admitAll();
            if (wait.isForEnded()) {
                return true;
            }
            register(wait);
            return CycleSearch.isFree(wait);
        } finally {
            core.lock.leave();
        }
    }

    /** A wait has begun: others may find it where they look for what follows an operation. */
    private void register(Wait wait) {
        wait.number = core.nextWait();
        wait.registered = true;
        Drain drain = wait.drain;
        Operation target = wait.target;
        if (drain != null) {
            drain.inside = wait;
        } else if (target != null && target.attachment instanceof Waiter waiter) {
            waiter.inside = wait;
        } else if (target != null && target.attachment instanceof OpFuture<?> future) {
            Wait first = future.inside;
            wait.next = first;
            if (first != null) {
                first.previous = wait;
            }
            future.inside = wait;
        }
        // If one is marked, then so are those that were interrupted to run it.
        for (Operation op = wait.owner; op != null; op = op.link) {
            if (op.core == core) {
                if (op.has(Operation.IN_WAIT)) {
                    break;
                }
                op.flags |= Operation.IN_WAIT;
                wait.marked = op;
            }
        }
    }

    private void unregister(Wait wait) {
        if (!wait.registered) {
            return;
        }
        wait.registered = false;
        Operation target = wait.target;
        if (wait.drain != null) {
            wait.drain.inside = null;
        } else if (target != null && target.attachment instanceof Waiter waiter) {
            waiter.inside = null;
        } else if (target != null && target.attachment instanceof OpFuture<?> future) {
            Wait before = wait.previous;
            Wait after = wait.next;
            if (before == null) {
                future.inside = after;
            } else {
                before.next = after;
            }
            if (after != null) {
                after.previous = before;
            }
        }
        Operation marked = wait.marked;
        for (Operation op = wait.owner; marked != null && op != null; op = op.link) {
            if (op.core == core) {
                op.flags &= ~Operation.IN_WAIT;
            }
            if (op == marked) {
                break;
            }
        }
    }

    /** Waits for all that was pushed before; returns what it throws. */
    @Nullable
    public OperationFailedException forAll(long deadline) throws InterruptedException, TimeoutException {
        Operation owner = Workplace.runningOf(core);
        if (owner != null) {
            throw new IllegalStateException(
                    "waitForAll inside operation '" + owner.name
                            + "' of the same engine can never end, because it waits for '" + owner.name
                            + "' itself: wait for the variables that you need, or wait outside");
        }
        if (Thread.interrupted()) {
            throw new InterruptedException("waitForAll of engine '" + core.name + "'");
        }
        Waiter waiter = new Waiter();
        Epoch fresh = new Epoch();
        LogReader.Cut cut;
        core.lock.enter();
        try {
            cut = core.intake.whenAdmitted(() -> core.epochs.await(waiter, fresh));
            if (waiter.done) {
                return core.epochs.failures().take();
            }
        } finally {
            core.lock.leave();
        }
        try {
            untilNear(cut, waiter, deadline);
            core.await(waiter, deadline);
        } finally {
            if (!waiter.done) {
                giveUp(cut, waiter);
            }
        }
        core.lock.enter();
        try {
            return core.epochs.failures().take();
        } finally {
            core.lock.leave();
        }
    }

    private void giveUp(LogReader.@Nullable Cut cut, Waiter waiter) {
        core.lock.enterShallow();
        try {
            core.intake.withdraw(cut);
            core.epochs.withdraw(waiter);
        } finally {
            core.lock.leave();
        }
    }

    /**
     * A wait that stands far back in the log begins when the workers have come so far. Where they get on slowly, or do
     * not because each is in a long body, this thread takes the log in itself: what it waits for may have ended long
     * ago.
     */
    private void untilNear(LogReader.@Nullable Cut cut, Waiter waiter, long deadline) {
        if (cut == null) {
            return;
        }
        long seen = Long.MIN_VALUE / 2;
        while (core.intake.isNear(cut, seen)) {
            seen = core.counts.position;
            LockSupport.parkNanos(this,
                    deadline == Deadline.NEVER ? LOOK_NANOS : Math.min(LOOK_NANOS, deadline - System.nanoTime()));
            if (LogReader.isPassed(cut) || waiter.done || Thread.currentThread().isInterrupted()) {
                return;
            }
        }
        core.intake.admitInSlices();
        core.lock.enter();
        try {
            core.intake.admitAll();
        } finally {
            core.lock.leave();
        }
    }

    private void refuseIfEndless(Wait wait, String call) {
        CycleSearch search = new CycleSearch(core, wait);
        List<Operation> chain;
        core.lock.enter();
        try {
            chain = search.chain();
        } finally {
            core.lock.leave();
        }
        if (chain.isEmpty()) {
            return;
        }
        StringBuilder message = new StringBuilder(call).append(" inside operation '").append(wait.owner.name)
                .append("' can never end: it waits for ");
        for (int i = chain.size() - 1; i > 0; i--) {
            Operation op = chain.get(i);
            if (!op.has(Operation.PROBE)) {
                message.append('\'').append(op.name).append("', which waits for ");
            }
        }
        message.append('\'').append(wait.owner.name)
                .append("'. Wait outside the operation, or push what needs the wait as an operation of its own");
        throw new IllegalStateException(message.toString());
    }
}
