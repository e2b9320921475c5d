package io.seriatim.engine;

import io.seriatim.engine.sync.Deadline;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The waits of one engine. A wait for the mutations of a variable is a probe: a read in the variable's queue that ends
 * as soon as it is ready. A wait for all operations on a variable is a {@link Drain}. A wait inside an operation begins
 * and is registered while the tracker lock is held once; then {@link CycleSearch} checks whether it closes a cycle.
 */
final class Waits {
    /** The interval, in nanoseconds, at which a waiting thread checks whether workers still read the log. */
    private static final long LOOK_NANOS = 1_000_000;

    private final EngineCore core;

    Waits(EngineCore core) {
        this.core = core;
    }

    /** Waits for the earlier mutations of a variable; returns the variable's failure after them, or null. */
    @Nullable
    Failure forMutations(Variable v, long deadline) throws InterruptedException, TimeoutException {
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

    /** Waits for all earlier operations on a variable. */
    void forOperations(Variable v, long deadline) throws InterruptedException, TimeoutException {
        Drain drain = new Drain(v, waiter(v, "waitToWrite"));
        v.state();
        await(call("waitToWrite", v), null, drain, drain.waiter, deadline, () -> core.drain(drain),
                () -> core.withdraw(drain));
    }

    private static String call(String method, Variable v) {
        return method + " of variable '" + v.name() + "'";
    }

    private Waiter waiter(Variable v, String method) throws InterruptedException {
        core.checkWhole();
        core.pushes.checkNotDeleted(v, method + " cannot wait for it");
        if (Thread.interrupted()) {
            throw new InterruptedException(call(method, v));
        }
        return new Waiter();
    }

    /**
     * Waits for one operation or for all operations on a variable.
     *
     * @param begin
     *            begins the wait, after all operations pushed before have been admitted; may end it at once
     * @param end
     *            abandons the wait, or does nothing if it has ended
     */
    private void await(String call, @Nullable Operation target, @Nullable Drain drain, Waiter waiter, long deadline,
            Runnable begin,
            Runnable end) throws InterruptedException, TimeoutException {
        Operation owner = owner(call);
        Wait wait = owner == null ? null : new Wait(owner, waiter, target, drain);
        // A search for a cycle, and a check without waiting, need the whole log to be admitted.
        boolean all = wait != null || (deadline != Deadline.NEVER && deadline - System.nanoTime() <= 0);
        if (all) {
            core.logReader.admitInSlices();
        }
        LogReader.Cut cut = null;
        boolean over = false;
        boolean free = true;
        // If the stack did not suffice to begin the wait, it does not suffice to end it either.
        boolean entered = false;
        try {
            core.lock.enter();
            entered = true;
            try {
                if (all) {
                    core.logReader.admitAll();
                }
                cut = core.logReader.whenAdmitted(begin);
                over = waiter.done;
                if (wait != null && !over) {
                    register(wait, core.nextWait());
                    free = CycleSearch.certainlyEnds(wait);
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
            core.logReader.withdraw(cut);
            end.run();
            if (wait != null) {
                unregister(wait);
            }
        } finally {
            core.lock.leave();
        }
    }

    /**
     * Waits until a future is done or what it depends on has changed.
     *
     * @param on
     *            what the future waits for
     * @param deadline
     *            a {@link System#nanoTime}, or {@link Deadline#NEVER}
     */
    void forFuture(EngineFuture<?> future, Dependencies on, long deadline)
            throws InterruptedException, TimeoutException {
        core.checkWhole();
        Operation owner = owner("get of a future");
        if (Thread.interrupted()) {
            throw new InterruptedException("get of " + on.describe());
        }
        Waiter waiter = new Waiter();
        List<Wait> waits = waits(owner, future, on, waiter);
        try {
            Wait search = certainlyEnd(waits);
            if (search != null) {
                refuseIfEndless(search, "get of " + on.describe());
            }
            future.addWaiter(waiter);
            on.addWaiter(waiter, core);
            core.await(waiter, deadline);
        } finally {
            on.removeWaiter(waiter);
            future.removeWaiter(waiter);
            if (waits.stream().anyMatch(wait -> wait.registered)) {
                unregister(waits);
            }
        }
    }

    /**
     * Returns the operation that the calling thread runs, or null. An operation of a graph must not wait: the others do
     * not end one by one for the tracker, so a wait for one of them would never end.
     */
    private @Nullable Operation owner(String call) {
        Operation owner = ThreadState.runningOf(core);
        if (owner != null && owner.has(Operation.MEMBER)) {
            throw new IllegalStateException(call + " inside operation '" + owner.name
                    + "', which belongs to a graph of operations: these must not wait for their engine. Wait before "
                    + "you push the graph, or push the operation by itself");
        }
        return owner;
    }

    /** Returns the waits to register for a future: none outside operations, or one for each awaited operation. */
    private List<Wait> waits(@Nullable Operation owner, EngineFuture<?> future, Dependencies on, Waiter waiter) {
        if (owner == null) {
            return List.of();
        }
        List<Wait> waits = new ArrayList<>();
        for (OpFuture<?> awaited : on.futures()) {
            Operation op = awaited.operation();
            if (op.core == core) {
                waits.add(awaited == future
                        ? new Wait(owner, waiter, op, (Drain) null)
                        : new Wait(owner, waiter, op, on));
            }
        }
        return waits;
    }

    /** Registers waits for a future; returns null if they certainly end, or else one of them. */
    private @Nullable Wait certainlyEnd(List<Wait> waits) {
        if (waits.isEmpty()) {
            return null;
        }
        core.logReader.admitInSlices();
        core.lock.enter();
        try {
            core.logReader.admitAll();
            long number = core.nextWait();
            Wait search = null;
            for (Wait wait : waits) {
                if (!wait.isForEnded()) {
                    register(wait, number);
                    if (!CycleSearch.certainlyEnds(wait)) {
                        search = wait;
                    }
                }
            }
            return search;
        } finally {
            core.lock.leave();
        }
    }

    private void unregister(List<Wait> waits) {
        core.lock.enterShallow();
        try {
            waits.forEach(this::unregister);
        } finally {
            core.lock.leave();
        }
    }

    /** Registers a wait that has begun, so that searches for cycles find it. */
    private void register(Wait wait, long number) {
        assert core.lock.isHeldByCurrentThread();
        wait.number = number;
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
        // If an operation is marked, so are its enclosing operations.
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
        assert core.lock.isHeldByCurrentThread();
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

    /** Waits for all operations pushed before; returns the exception that {@code waitForAll} throws, or null. */
    @Nullable
    OperationFailedException forAll(long deadline) throws InterruptedException, TimeoutException {
        Operation owner = ThreadState.runningOf(core);
        if (owner != null) {
            throw new IllegalStateException(
                    "waitForAll inside operation '" + owner.name
                            + "' of the same engine can never end, because it waits for '" + owner.name
                            + "' itself: wait for the variables that you need, or wait outside");
        }
        core.checkWhole();
        if (Thread.interrupted()) {
            throw new InterruptedException("waitForAll of engine '" + core.name + "'");
        }
        Waiter waiter = new Waiter();
        Epoch fresh = new Epoch();
        LogReader.Cut cut;
        core.lock.enter();
        try {
            cut = core.logReader.whenAdmitted(() -> core.epochs.await(waiter, fresh));
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

    /**
     * Waits until no operation is pending, with those that running operations push meanwhile; returns the exception
     * that {@code waitUntilIdle} throws, or null.
     */
    @Nullable
    OperationFailedException untilIdle(long deadline) throws InterruptedException, TimeoutException {
        Operation owner = ThreadState.runningOf(core);
        if (owner != null) {
            throw new IllegalStateException(
                    "waitUntilIdle inside operation '" + owner.name
                            + "' of the same engine can never end, because '" + owner.name
                            + "' itself is pending: wait for the variables that you need, or wait outside");
        }
        core.checkWhole();
        if (Thread.interrupted()) {
            throw new InterruptedException("waitUntilIdle of engine '" + core.name + "'");
        }
        Waiter waiter = new Waiter();
        boolean looks = deadline != Deadline.NEVER && deadline - System.nanoTime() <= 0;
        if (looks) {
            core.logReader.admitInSlices();
        }
        core.lock.enter();
        try {
            if (looks) {
                core.logReader.admitAll();
            } else {
                core.dispatcher.harvest();
            }
            if (core.life.addIdler(waiter)) {
                return core.epochs.failures().take();
            }
        } finally {
            core.lock.leave();
        }
        try {
            core.await(waiter, deadline);
        } finally {
            if (!waiter.done) {
                core.lock.enterShallow();
                try {
                    core.life.removeIdler(waiter);
                } finally {
                    core.lock.leave();
                }
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
            core.logReader.withdraw(cut);
            core.epochs.withdraw(waiter);
        } finally {
            core.lock.leave();
        }
    }

    /**
     * Parks until the workers have nearly reached the position of this wait in the log. If they read the log slowly,
     * because each runs a long body, this thread reads the log itself: the awaited operations may have ended long ago.
     */
    private void untilNear(LogReader.@Nullable Cut cut, Waiter waiter, long deadline) {
        if (cut == null) {
            return;
        }
        long seen = Long.MIN_VALUE / 2;
        while (core.logReader.isNear(cut, seen)) {
            seen = core.counts.position;
            LockSupport.parkNanos(this,
                    deadline == Deadline.NEVER ? LOOK_NANOS : Math.min(LOOK_NANOS, deadline - System.nanoTime()));
            if (LogReader.isPassed(cut) || waiter.done || Thread.currentThread().isInterrupted()) {
                return;
            }
        }
        core.logReader.admitInSlices();
        core.lock.enter();
        try {
            core.logReader.admitAll();
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
