package io.seriatim.engine;

import io.seriatim.engine.sync.Deadline;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The user's handle of an engine. Threads, variables and operations refer to the {@link EngineCore} only, so that an
 * unreachable handle can be garbage collected.
 */
final class DependencyEngine implements Engine {
    private final EngineCore core;
    private final Closing closing;
    private final AtomicLong unnamed = new AtomicLong();

    /** Creates the handle of an engine that has none yet. */
    DependencyEngine(EngineCore core) {
        this.core = core;
        closing = new Closing(core);
        core.handle(this);
    }

    @Override
    public Var newVar() {
        return new Variable(core, "var" + unnamed.getAndIncrement());
    }

    @Override
    public Var newVar(String name) {
        return new Variable(core, Objects.requireNonNull(name, "name"));
    }

    @Override
    public OpBuilder op(String name) {
        return new Operation(core, Objects.requireNonNull(name, "name"));
    }

    @Override
    public void pushAll(List<PreparedOp> ops) {
        List<Prepared> together = new ArrayList<>();
        for (Preparation each : own(ops)) {
            if (each instanceof Prepared op) {
                together.add(op);
            } else {
                core.pushes.pushAll(together);
                together.clear();
                each.push();
            }
        }
        core.pushes.pushAll(together);
    }

    @Override
    public PreparedOp prepareAll(String name, List<PreparedOp> ops) {
        Objects.requireNonNull(name, "name");
        return new PreparedGraph(core, name, PreparedGraph.flattened(own(ops)));
    }

    /** Returns a copy of a list, which its owner may change meanwhile, of preparations that can be pushed. */
    private List<Preparation> own(List<PreparedOp> ops) {
        List<Preparation> all = new ArrayList<>();
        for (PreparedOp op : ops.toArray(PreparedOp[]::new)) {
            Preparation own = own(Objects.requireNonNull(op, "operation"));
            own.checkNotDeleted();
            all.add(own);
        }
        return all;
    }

    @SuppressWarnings("ReferenceEquality") // Engines are compared by identity.
    private Preparation own(PreparedOp op) {
        if (op instanceof Preparation own && own.core == core) {
            return own;
        }
        String whose = op instanceof Preparation foreign
                ? "of engine '" + foreign.core.name + "'"
                : "no engine's (" + op.getClass().getName() + ")";
        throw new IllegalArgumentException("a prepared operation is " + whose + ", not of engine '" + core.name
                + "': use operations prepared by this engine's op");
    }

    @Override
    public void waitToRead(Var v) throws InterruptedException {
        try {
            waitToRead(v, Deadline.NEVER);
        } catch (TimeoutException e) {
            throw Deadline.endless(e);
        }
    }

    @Override
    public void waitToRead(Var v, Duration limit) throws InterruptedException, TimeoutException {
        waitToRead(v, Deadline.after(limit));
    }

    private void waitToRead(Var v, long deadline) throws InterruptedException, TimeoutException {
        Failure failure = core.waits.forMutations(core.own(v), deadline);
        if (failure != null) {
            failure.observed = true;
            throw failure.on(v);
        }
    }

    @Override
    public void waitToWrite(Var v) throws InterruptedException {
        try {
            core.waits.forOperations(core.own(v), Deadline.NEVER);
        } catch (TimeoutException e) {
            throw Deadline.endless(e);
        }
    }

    @Override
    public void waitToWrite(Var v, Duration limit) throws InterruptedException, TimeoutException {
        core.waits.forOperations(core.own(v), Deadline.after(limit));
    }

    @Override
    public void waitForAll() throws InterruptedException {
        try {
            waitForAll(Deadline.NEVER);
        } catch (TimeoutException e) {
            throw Deadline.endless(e);
        }
    }

    @Override
    public void waitForAll(Duration limit) throws InterruptedException, TimeoutException {
        waitForAll(Deadline.after(limit));
    }

    private void waitForAll(long deadline) throws InterruptedException, TimeoutException {
        OperationFailedException failure = core.waits.forAll(deadline);
        if (failure != null) {
            throw failure;
        }
    }

    @Override
    public void waitUntilIdle() throws InterruptedException {
        try {
            waitUntilIdle(Deadline.NEVER);
        } catch (TimeoutException e) {
            throw Deadline.endless(e);
        }
    }

    @Override
    public void waitUntilIdle(Duration limit) throws InterruptedException, TimeoutException {
        waitUntilIdle(Deadline.after(limit));
    }

    private void waitUntilIdle(long deadline) throws InterruptedException, TimeoutException {
        OperationFailedException failure = core.waits.untilIdle(deadline);
        if (failure != null) {
            throw failure;
        }
    }

    @Override
    public void await(CompletionStage<?> stage) throws InterruptedException {
        if (stage instanceof EngineFuture<?> future && (core.dispatcher.hasWorkers() || future.runsInWaits())) {
            await(future);
        } else {
            awaitOther(stage);
        }
    }

    private static void await(EngineFuture<?> future) throws InterruptedException {
        try {
            future.await(Deadline.NEVER);
        } catch (TimeoutException e) {
            throw Deadline.endless(e);
        }
    }

    private void awaitOther(CompletionStage<?> stage) throws InterruptedException {
        Waiter waiter = new Waiter();
        // The dependent stage is not needed.
        stage.whenComplete((value, thrown) -> waiter.signal()).toCompletableFuture().isDone();
        if (waiter.done) {
            return;
        }
        try {
            core.await(waiter, Deadline.NEVER);
        } catch (TimeoutException e) {
            throw Deadline.endless(e);
        }
    }

    @Override
    public void delete(Var v) {
        Operation op = deletion(v);
        op.flags |= Operation.IMMEDIATE;
        core.pushes.push(op);
    }

    @Override
    public void delete(Var v, Runnable onDeleted) {
        Objects.requireNonNull(onDeleted, "onDeleted");
        delete(v, Lane.CPU, onDeleted::run);
    }

    @Override
    public void delete(Var v, Lane where, Body onDeleted) {
        Objects.requireNonNull(onDeleted, "onDeleted");
        Operation op = deletion(v);
        op.lane = Objects.requireNonNull(where, "lane");
        op.body = onDeleted;
        core.pushes.push(op);
    }

    private Operation deletion(Var v) {
        Operation op = new Operation(core, "delete " + core.own(v).name());
        op.mutates(v).kind(OpKind.DELETE);
        op.seal(op);
        op.body = null;
        op.flags |= Operation.DELETES;
        return op;
    }

    @Override
    public @Nullable Throwable failure(Var v) {
        Failure failure = core.own(v).failure();
        if (failure == null) {
            return null;
        }
        failure.observed = true;
        return failure.on(v);
    }

    @Override
    public void clearFailure(Var v) {
        Operation op = new Operation(core, "clear failure of " + core.own(v).name());
        op.mutates(v).evenIfFailed();
        op.seal(op);
        op.body = null;
        op.flags |= Operation.CLEARS | Operation.SILENT | Operation.IMMEDIATE;
        core.pushes.push(op);
    }

    @Override
    public EngineSnapshot snapshot() {
        return SnapshotWalk.take(core);
    }

    @Override
    public EngineStats stats() {
        return core.stats();
    }

    @Override
    public void record(@Nullable Recorder recorder) {
        core.recorder = recorder;
    }

    @Override
    public void trace(Var v, Consumer<VarEvent> listener) {
        Variable variable = core.own(v);
        Objects.requireNonNull(listener, "listener");
        core.pushes.checkNotDeleted(variable, "it cannot be traced");
        core.lock.enter();
        try {
            core.logReader.admitAll();
            variable.state().trace = new VarTrace(variable, listener);
            core.execution.traced();
        } finally {
            core.lock.leave();
        }
    }

    @Override
    public void close() {
        closing.close(Deadline.NEVER);
    }

    @Override
    public boolean close(Duration limit) {
        return closing.close(Deadline.after(limit));
    }

    @Override
    public void shutdownNow() {
        closing.shutdownNow();
    }

    @Override
    public String toString() {
        return "engine '" + core.name + "' (" + core.dispatcher.kind() + ")";
    }
}
