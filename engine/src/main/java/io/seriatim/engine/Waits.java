package io.seriatim.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The waits of one engine. A wait for a variable's mutations is a probe: a read in the variable's queue that ends as soon as it is ready; one for all its operations is a
 * {@link Drain}. Inside an operation, a wait is begun and checked in one step under the tracker's role, so that of two operations that wait for each other the second is
 * told.
 */
final class Waits {
    /** A wait inside an operation: who waits, and for what. */
    record Wait(Operation owner, Predicate<Operation> target) {
    }

    private final EngineCore core;
    /** Owned by the tracker's role. */
    private final List<Wait> inside = new ArrayList<>();

    Waits(EngineCore core) {
        this.core = core;
    }

    /** When a wait of so many nanoseconds ends. */
    static long deadline(long nanos) {
        // A quarter of the greatest number is decades hence, and cannot overflow when it is added to a time.
        return nanos >= Long.MAX_VALUE / 4 ? Dispatcher.FOREVER : System.nanoTime() + Math.max(0, nanos);
    }

    static long deadline(Duration limit) {
        Objects.requireNonNull(limit, "limit");
        try {
            return deadline(limit.toNanos());
        } catch (ArithmeticException e) {
            return limit.isNegative() ? deadline(0) : Dispatcher.FOREVER;
        }
    }

    /** A wait without a limit cannot time out: a defect. */
    static IllegalStateException endless(TimeoutException e) {
        return new IllegalStateException("a wait without a limit timed out", e);
    }

    /** Waits for a variable's earlier mutations; returns the failure that it carries then. */
    @Nullable
    Failure forMutations(Variable v, long deadline) throws InterruptedException, TimeoutException {
        Waiter waiter = waiter(v, "waitToRead");
        Operation probe = new Operation(core, "waitToRead");
        probe.flags = Operation.PROBE | Operation.IMMEDIATE | Operation.SILENT | Operation.EVEN_IF_FAILED;
        probe.reads(v);
        probe.attachment = waiter;
        probe.next = new Operation[1];
        await(call("waitToRead", v), op -> op == probe, waiter, deadline, () -> core.admit(probe), () -> core.withdraw(probe));
        return waiter.failure;
    }

    /** Waits for all of a variable's earlier operations. */
    void forOperations(Variable v, long deadline) throws InterruptedException, TimeoutException {
        Drain drain = new Drain(v, waiter(v, "waitToWrite"));
        await(call("waitToWrite", v), drain::waitsFor, drain.waiter, deadline, () -> core.drain(drain), () -> core.withdraw(drain));
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
     * Waits.
     *
     * @param target
     *            which operations, inside which this would be a wait for itself
     * @param begin
     *            begins the wait, once all that was pushed before has been taken in; may end it at once
     * @param end
     *            gives it up, or does nothing if it has ended
     */
    private void await(String call, Predicate<Operation> target, Waiter waiter, long deadline, Runnable begin, Runnable end)
            throws InterruptedException, TimeoutException {
        Operation owner = Workplace.runningOf(core);
        Wait wait = owner == null ? null : new Wait(owner, target);
        Intake.Cut cut;
        core.enter();
        try {
            if (wait != null || (deadline != Dispatcher.FOREVER && deadline - System.nanoTime() <= 0)) {
                // To find a cycle, or to tell at once, all has to be known.
                core.intake.admitAll();
            }
            cut = core.intake.whenAdmitted(begin);
            if (waiter.done) {
                return;
            }
            if (wait != null) {
                refuseIfEndless(wait, call, end);
                inside.add(wait);
            }
        } finally {
            core.leave();
        }
        try {
            core.await(waiter, deadline);
        } finally {
            core.enter();
            try {
                core.intake.withdraw(cut);
                end.run();
                inside.remove(wait);
            } finally {
                core.leave();
            }
        }
    }

    /** Waits until a future is done. */
    void forFuture(OpFuture<?> future, Operation op, long deadline) throws InterruptedException, TimeoutException {
        if (Thread.interrupted()) {
            throw new InterruptedException("get of the future of operation '" + op.name + "'");
        }
        Waiter waiter = new Waiter();
        Operation owner = Workplace.runningOf(core);
        Wait wait = owner == null ? null : new Wait(owner, other -> other == op);
        if (wait != null) {
            core.enter();
            try {
                core.intake.admitAll();
                if (!op.has(Operation.ENDED)) {
                    refuseIfEndless(wait, "get of the future of operation '" + op.name + "'", () -> {
                    });
                    inside.add(wait);
                }
            } finally {
                core.leave();
            }
        }
        try {
            future.addWaiter(waiter);
            core.await(waiter, deadline);
        } finally {
            future.removeWaiter(waiter);
            if (wait != null) {
                core.enter();
                inside.remove(wait);
                core.leave();
            }
        }
    }

    /** Waits for all that was pushed before; returns what it throws. */
    @Nullable
    OperationFailedException forAll(long deadline) throws InterruptedException, TimeoutException {
        Operation owner = Workplace.runningOf(core);
        if (owner != null) {
            throw new IllegalStateException(
                    "waitForAll inside operation '" + owner.name + "' of the same engine can never end, because it waits for '" + owner.name
                            + "' itself: wait for the variables that you need, or wait outside");
        }
        if (Thread.interrupted()) {
            throw new InterruptedException("waitForAll of engine '" + core.name + "'");
        }
        Waiter waiter = new Waiter();
        Intake.Cut cut;
        core.enter();
        try {
            cut = core.intake.whenAdmitted(() -> core.epochs.await(waiter));
            if (waiter.done) {
                return core.epochs.failures().take();
            }
        } finally {
            core.leave();
        }
        try {
            core.await(waiter, deadline);
        } finally {
            if (!waiter.done) {
                giveUp(cut, waiter);
            }
        }
        core.enter();
        try {
            return core.epochs.failures().take();
        } finally {
            core.leave();
        }
    }

    private void giveUp(Intake.@Nullable Cut cut, Waiter waiter) {
        core.enter();
        try {
            core.intake.withdraw(cut);
            core.epochs.withdraw(waiter);
        } finally {
            core.leave();
        }
    }

    private void refuseIfEndless(Wait wait, String call, Runnable end) {
        List<Operation> chain = new PendingWalk(core).chain(wait.owner, wait.target, inside);
        if (chain.isEmpty()) {
            return;
        }
        end.run();
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
