package io.seriatim.engine;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The handle of an engine. Threads, variables and operations hold the {@link EngineCore} only, so that a handle that
 * was lost can be collected.
 */
final class DependencyEngine implements Engine {
    private final EngineCore core;
    private final AtomicLong unnamed = new AtomicLong();

    DependencyEngine(EngineCore core) {
        this.core = core;
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
    public void waitToRead(Var v) throws InterruptedException {
        try {
            waitToRead(v, Dispatcher.FOREVER);
        } catch (TimeoutException e) {
            throw Waits.endless(e);
        }
    }

    @Override
    public void waitToRead(Var v, Duration limit) throws InterruptedException, TimeoutException {
        waitToRead(v, Waits.deadline(limit));
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
            core.waits.forOperations(core.own(v), Dispatcher.FOREVER);
        } catch (TimeoutException e) {
            throw Waits.endless(e);
        }
    }

    @Override
    public void waitToWrite(Var v, Duration limit) throws InterruptedException, TimeoutException {
        core.waits.forOperations(core.own(v), Waits.deadline(limit));
    }

    @Override
    public void waitForAll() throws InterruptedException {
        try {
            waitForAll(Dispatcher.FOREVER);
        } catch (TimeoutException e) {
            throw Waits.endless(e);
        }
    }

    @Override
    public void waitForAll(Duration limit) throws InterruptedException, TimeoutException {
        waitForAll(Waits.deadline(limit));
    }

    private void waitForAll(long deadline) throws InterruptedException, TimeoutException {
        OperationFailedException failure = core.waits.forAll(deadline);
        if (failure != null) {
            throw failure;
        }
    }

    @Override
    public void await(CompletionStage<?> stage) throws InterruptedException {
        Waiter waiter = new Waiter();
        // The stage that comes of it ends with this one, and nobody needs it.
        stage.whenComplete((value, thrown) -> waiter.signal()).toCompletableFuture().isDone();
        if (waiter.done) {
            return;
        }
        try {
            core.await(waiter, Dispatcher.FOREVER);
        } catch (TimeoutException e) {
            throw Waits.endless(e);
        }
    }

    @Override
    public void delete(Var v) {
        Operation op = deletion(v);
        op.flags |= Operation.IMMEDIATE;
        core.push(op);
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
        core.push(op);
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
        core.push(op);
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
        core.checkNotDeleted(variable, "it cannot be traced");
        core.enter();
        try {
            core.intake.admitAll();
            variable.state().trace = new VarTrace(variable, listener);
            core.traced();
        } finally {
            core.leave();
        }
    }

    @Override
    public void close() {
        core.life.close(Dispatcher.FOREVER);
    }

    @Override
    public boolean close(Duration limit) {
        return core.life.close(Waits.deadline(limit));
    }

    @Override
    public void shutdownNow() {
        core.life.shutdownNow();
    }

    @Override
    public String toString() {
        return "engine '" + core.name + "'";
    }
}
