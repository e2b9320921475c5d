package io.seriatim.engine;

import java.util.List;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Runs nothing by itself: a test decides which ready operation starts, and when it ends. */
final class ManualDispatcher implements Dispatcher {
    final ReadyQueue ready = new ReadyQueue(0);
    private final EngineCore core;
    private boolean terminated;

    ManualDispatcher(EngineCore core) {
        this.core = core;
    }

    boolean isTerminated() {
        return terminated;
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
        throw new IllegalStateException("there are no workers");
    }

    @Override
    public void afterPush(Operation op) {
        // The test decides when an operation runs.
    }

    @Override
    public void ready(Operation op) {
        ready.add(op);
    }

    @Override
    public void harvest() {
        // There are no batches.
    }

    @Override
    public boolean balance() {
        return core.lock.hasDeferred();
    }

    @Override
    public void leftToOthers() {
        throw new IllegalStateException("no callback waits");
    }

    @Override
    public boolean hasWorkers() {
        return false;
    }

    @Override
    public void left() {
        // The test decides when an operation runs.
    }

    @Override
    public void await(Waiter waiter, long deadline) throws InterruptedException, TimeoutException {
        throw new IllegalStateException("the only thread must not block");
    }

    @Override
    public void forEach(Look look) {
        ready.forEach(op -> look.at(op, EngineSnapshot.State.READY, null));
    }

    @Override
    public List<? extends OpSource> takeQueued() {
        ReadyQueue taken = new ReadyQueue(0);
        ready.moveTo(taken);
        return List.of(taken);
    }

    @Override
    public void interruptRunning() {
        // No thread runs a body.
    }

    @Override
    public WorkerStates states(Operation op) {
        throw new IllegalStateException("no body runs");
    }

    @Override
    public void terminate() {
        terminated = true;
    }

    @Override
    public boolean join(long deadline) {
        return terminated;
    }

    @Override
    public String note() {
        return "";
    }

    @Override
    public String kind() {
        return "manual";
    }

    @Override
    public int threads() {
        return 0;
    }
}
