package io.seriatim.engine;

import io.seriatim.engine.sync.ClassInitialization;
import io.seriatim.engine.sync.Deadline;
import java.lang.invoke.MethodHandles;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Runs operations on threads of its own. The {@link Layout} maps lanes to pools of threads. */
final class LaneDispatcher implements Dispatcher {
    static {
        ClassInitialization.ensure(MethodHandles.lookup(), Worker.class, WorkerStates.class, WorkerLane.class,
                Batch.class,
                Batches.class, Reports.class, BodyTimes.class);
    }

    /** Maps lanes to pools, and determines the sizes of pools. */
    interface Layout {
        /** Returns the kind of engine, for messages. */
        String kind();

        /** Returns the lane that names the pool of a lane; several lanes may share a pool. */
        Lane poolOf(Lane lane);

        /** Returns the number of threads of a pool. */
        int threadsOf(Lane pool);
    }

    /**
     * The route of an operation: the lane that it reports, the pool that runs it, and whether it runs before all others
     * there.
     */
    private record Route(Lane lane, WorkerLane workers, boolean urgent) {
    }

    /** If the workers take longer per operation, in nanoseconds, their operations are not tiny. */
    private static final long SLOW_NANOS = 1_000;

    final EngineCore core;
    private final Layout layout;
    private final Map<Lane, List<Supplier<?>>> suppliers;
    private final Map<Lane, Route> routes = new ConcurrentHashMap<>();
    private final Map<Lane, WorkerLane> pools = new ConcurrentHashMap<>();
    private final Route cpu;
    /** A copy of the pools for iteration without a lock. */
    private volatile WorkerLane[] all;

    LaneDispatcher(EngineCore core, Layout layout, Map<Lane, List<Supplier<?>>> suppliers) {
        this.core = core;
        this.layout = layout;
        this.suppliers = suppliers;
        all = new WorkerLane[0];
        cpu = routeOf(Lane.CPU);
        core.log.startWith(cpu.workers);
    }

    /** Returns the lane of an operation of the given kind that was sent to the given lane. */
    static Lane queueFor(Lane lane, OpKind kind) {
        return switch (kind) {
            case COPY_IN, COPY_OUT -> lane.queue() == Lane.Queue.COPY ? lane : new Lane(lane.place(), Lane.Queue.COPY);
            case PRIORITIZED ->
                lane.queue() == Lane.Queue.PRIORITY ? lane : new Lane(lane.place(), Lane.Queue.PRIORITY);
            case NORMAL, ASYNC, DELETE -> lane;
        };
    }

    // The identity check is a fast path; an equal lane takes the slow path.
    @SuppressWarnings("ReferenceEquality")
    @Override
    public void route(Operation op) {
        Lane lane = queueFor(op.lane, op.kind);
        Route route = lane == Lane.CPU ? cpu : routeOf(lane);
        op.lane = route.lane;
        op.workers = route.workers;
        if (route.urgent) {
            op.flags |= Operation.URGENT;
        }
    }

    private Route routeOf(Lane lane) {
        Route route = routes.get(lane);
        if (route == null) {
            Lane pool = layout.poolOf(lane);
            boolean urgent = lane.queue() == Lane.Queue.PRIORITY && pool.queue() != Lane.Queue.PRIORITY;
            route = new Route(lane, poolOf(pool), urgent);
            routes.put(lane, route);
        }
        return route;
    }

    private WorkerLane poolOf(Lane pool) {
        WorkerLane made = pools.computeIfAbsent(pool,
                lane -> new WorkerLane(this, lane, layout.threadsOf(lane), suppliers.getOrDefault(lane, List.of())));
        synchronized (pools) {
            all = pools.values().toArray(WorkerLane[]::new);
        }
        return made;
    }

    private static WorkerLane workersOf(Operation op) {
        WorkerLane workers = op.workers;
        if (workers == null) {
            throw new IllegalStateException(op + " was not routed");
        }
        return workers;
    }

    @Override
    public @Nullable Worker pushed(Operation op) {
        assert core.pushes.isHeldByCurrentThread();
        if (op.has(Operation.IMMEDIATE) || op.kind == OpKind.ASYNC) {
            return mainLane().pick();
        }
        return workersOf(op).pick();
    }

    private WorkerLane mainLane() {
        WorkerLane main = core.log.main();
        return main == null ? cpu.workers : main;
    }

    @Override
    public void call(Worker worker) {
        try {
            worker.call();
        } catch (Throwable t) {
            // The next push, or a waiting thread, tries again.
            worker.lane.owed = worker;
            report(t);
        }
    }

    /**
     * Passes an error to the handler of unhandled failures. A worker may hold operations, so it defers the call to a
     * worker that does not.
     */
    private void report(Throwable t) {
        try {
            if (ThreadState.here().worker == null && !ThreadState.isInside()) {
                core.unhandled(t);
                return;
            }
            Report report = new Report(core, t);
            core.lock.enter();
            core.lock.defer(report);
            core.lock.exit();
        } catch (Throwable second) {
            core.unhandled(t);
        }
    }

    /** A deferred call of the handler of unhandled failures. */
    private static final class Report extends Callback {
        private final EngineCore core;
        private final Throwable thrown;

        Report(EngineCore core, Throwable thrown) {
            this.core = core;
            this.thrown = thrown;
        }

        @Override
        EngineCore owner() {
            return core;
        }

        @Override
        void call() {
            core.unhandled(thrown);
        }
    }

    @Override
    public void afterPush(Operation op) {
        // The workers run the operation.
    }

    @Override
    public void ready(Operation op) {
        workersOf(op).queue.add(op);
    }

    @Override
    public void harvest() {
        for (WorkerLane lane : all) {
            lane.batches.harvest();
        }
    }

    @Override
    public boolean balance() {
        for (WorkerLane lane : all) {
            if (lane.isCallable() && (!lane.queue.isEmpty() || lane.isCallOwed())) {
                pick(lane);
            }
        }
        if (core.lock.hasDeferred() && cpu.workers.isCallable()) {
            pick(cpu.workers);
        }
        return false;
    }

    @Override
    public void leftToOthers() {
        balance();
    }

    @Override
    public boolean hasWorkers() {
        return true;
    }

    @Override
    public void left() {
        throw new IllegalStateException(
                "left() was called on an engine with workers, which call deferred callbacks themselves");
    }

    /** Schedules a worker to be started or woken when the tracker lock is released; under the tracker lock. */
    private void pick(WorkerLane lane) {
        Worker worker = null;
        core.pushes.lock();
        try {
            worker = lane.pick();
        } catch (OutOfMemoryError e) {
            // No worker can be created now. The next thread that releases the tracker lock tries again, and so do
            // waiting threads from time to time.
            core.pickFailed();
        } finally {
            core.pushes.unlock();
        }
        if (worker != null) {
            core.lock.callLater(worker);
        }
    }

    /**
     * Called when a searching worker has found work: wakes the next worker if there may be more work; under the tracker
     * lock.
     */
    void found(WorkerLane lane, Worker worker) {
        core.pushes.lock();
        try {
            lane.found(worker);
        } finally {
            core.pushes.unlock();
        }
        if (core.logReader.hasUnadmitted()) {
            pick(lane);
        }
    }

    /** Sends a worker to sleep, unless there is work for it; under the tracker lock. */
    boolean sleep(WorkerLane lane, Worker worker) {
        if (core.life.isTerminated()) {
            return false;
        }
        lane.batches.harvest();
        lane.batches.takeAllBack();
        lane.batches.setIdle(worker.batch, false);
        worker.batch.inUse = false;
        core.pushes.lock();
        try {
            boolean sleeps = lane.isCrowded() || lane.isSuperfluous()
                    || (lane.queue.isEmpty() && !core.logReader.hasUnadmitted() && !core.lock.hasDeferred());
            if (sleeps) {
                lane.sleep(worker);
                core.log.forget();
            }
            return sleeps;
        } finally {
            core.pushes.unlock();
        }
    }

    /** Performs a check of a lane's watcher; returns whether the watcher must start to work. */
    boolean watch(WorkerLane lane, Worker worker, long nanos) {
        boolean backlog = core.logReader.seemsPushed() || !lane.queue.isEmpty();
        long ran;
        boolean works;
        core.pushes.lock();
        try {
            ran = lane.executed() - worker.executedSeen;
            worker.executedSeen += ran;
            works = lane.watched(worker, backlog && ran * SLOW_NANOS < nanos);
        } finally {
            core.pushes.unlock();
        }
        if (!works && !backlog && ran == 0) {
            endWatch(lane, worker);
        }
        return works;
    }

    /**
     * Ends a watch while the other workers run long bodies and no operation waits, because a check every 50 µs would
     * waste a fifth of a processor. From now on a push wakes a worker as in any other lane. Acquires both locks, as
     * {@link #sleep} does: an earlier push is visible here, and a later push finds that it may wake a worker.
     */
    private void endWatch(WorkerLane lane, Worker worker) {
        core.lock.enter();
        try {
            lane.batches.harvest();
            lane.batches.takeAllBack();
            core.pushes.lock();
            try {
                if (lane.queue.isEmpty() && !core.logReader.hasUnadmitted()) {
                    lane.endWatch(worker);
                }
            } finally {
                core.pushes.unlock();
            }
        } finally {
            core.lock.leave();
        }
    }

    /** Removes a sleeping worker that is not needed any more; returns whether its thread must end. */
    boolean dismiss(WorkerLane lane, Worker worker) {
        core.lock.enter();
        try {
            core.pushes.lock();
            try {
                return (core.life.isTerminated() || worker.number >= lane.limit || core.isAbandoned())
                        && lane.dismiss(worker);
            } finally {
                core.pushes.unlock();
            }
        } finally {
            core.lock.leave();
        }
    }

    /** Removes an awake worker, whose thread ends; under the tracker lock. */
    void dismissAwake(WorkerLane lane, Worker worker) {
        core.pushes.lock();
        try {
            lane.removeAwake(worker);
        } finally {
            core.pushes.unlock();
        }
    }

    void blocked(WorkerLane lane, Worker worker) {
        core.lock.enter();
        try {
            lane.batches.harvest();
            lane.batches.takeBack(worker);
            worker.batch.inUse = false;
            core.pushes.lock();
            try {
                lane.blocked();
            } finally {
                core.pushes.unlock();
            }
            if (core.logReader.hasUnadmitted()) {
                pick(lane);
            }
        } finally {
            core.lock.leave();
        }
    }

    void unblocked(WorkerLane lane) {
        core.lock.enterShallow();
        try {
            core.pushes.lock();
            try {
                lane.unblocked();
            } finally {
                core.pushes.unlock();
            }
        } finally {
            core.lock.leave();
        }
    }

    /**
     * Called by a waiting thread from time to time: wakes a worker in case an earlier attempt failed for lack of
     * memory.
     */
    private void lookAround() {
        core.lock.enter();
        try {
            if (core.logReader.hasUnadmitted() && cpu.workers.isCallable()) {
                pick(cpu.workers);
            }
        } finally {
            core.lock.leave();
        }
    }

    @Override
    public void await(Waiter waiter, long deadline) throws InterruptedException, TimeoutException {
        boolean looks = false;
        while (!waiter.done) {
            // From time to time too: a broken engine cannot be trusted to wake anyone.
            core.checkWhole();
            if (looks) {
                lookAround();
            }
            if (Thread.interrupted()) {
                throw new InterruptedException("while waiting on engine '" + core.name + "'");
            }
            long left = LOOK_NANOS;
            if (deadline != Deadline.NEVER) {
                left = deadline - System.nanoTime();
                if (left <= 0) {
                    throw new TimeoutException("engine '" + core.name + "': not done within the given time");
                }
            }
            long began = System.nanoTime();
            LockSupport.parkNanos(this, Math.min(left, LOOK_NANOS));
            looks = System.nanoTime() - began >= LOOK_NANOS;
        }
    }

    @Override
    public void forEach(Look look) {
        for (WorkerLane lane : all) {
            lane.queue.forEach(op -> look.at(op, EngineSnapshot.State.READY, null));
        }
        for (Worker worker : workers()) {
            for (Operation op = worker.taken; op != null; op = op.link) {
                if (op.core == core) {
                    look.at(op, EngineSnapshot.State.RUNNING, worker);
                }
            }
            worker.batch.forEach(look, worker);
        }
    }

    private List<Worker> workers() {
        List<Worker> workers = new ArrayList<>();
        for (WorkerLane lane : all) {
            workers.addAll(List.of(lane.workers()));
        }
        return workers;
    }

    @Override
    public List<? extends OpSource> takeQueued() {
        List<ReadyQueue> taken = new ArrayList<>();
        for (WorkerLane lane : all) {
            lane.batches.takeAllBack();
            ReadyQueue rest = new ReadyQueue(0);
            taken.add(rest);
            lane.queue.moveTo(rest);
        }
        return taken;
    }

    @Override
    public void interruptRunning() {
        for (Worker worker : workers()) {
            // Batches were taken back, so that a worker claims nothing more while the tracker lock is held.
            Operation running = worker.batch.inUse ? worker.batch.running() : worker.taken;
            if (running != null && running.kind != OpKind.DELETE) {
                worker.interrupt();
            }
        }
    }

    @Override
    public WorkerStates states(Operation op) {
        return new WorkerStates(List.of());
    }

    @Override
    public void terminate() {
        for (Worker worker : workers()) {
            LockSupport.unpark(worker);
        }
    }

    @Override
    public boolean join(long deadline) throws InterruptedException {
        if (Thread.currentThread() instanceof Worker me && me.core == core) {
            return true;
        }
        // Read before the leaving workers, so that a worker that leaves meanwhile is in at least one of the two lists.
        List<Worker> workers = workers();
        core.pushes.lock();
        for (WorkerLane lane : all) {
            workers.addAll(lane.leaving());
        }
        core.pushes.unlock();
        for (Worker worker : workers) {
            if (deadline == Deadline.NEVER) {
                worker.join();
            } else {
                long left = deadline - System.nanoTime();
                if (left > 0) {
                    TimeUnit.NANOSECONDS.timedJoin(worker, left);
                }
                if (worker.isAlive()) {
                    return false;
                }
            }
        }
        return true;
    }

    @Override
    public String note() {
        return "";
    }

    @Override
    public String kind() {
        return layout.kind();
    }

    @Override
    public int threads() {
        return workers().size();
    }
}
