package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How ready operations are divided between two workers, whose threads are not started: the test acts for them. */
class HandOverTest {
    private static final long BODY_NANOS = 1_000;
    /** The number of further checks after which a worker that has made no progress since a hand-over loses it. */
    private static final int CHECKS = 4;

    private static final int STEPS = 10_000;
    /** The length of a body of about a microsecond. */
    private static final int ROUNDS = 800;

    private EngineCore core;
    private WorkerLane lane;
    private Worker me;
    private Worker other;

    @BeforeEach
    void twoWorkersAreAwake() {
        core = ((EngineBuilder) Engine.builder().pooled(3)).buildCore();
        lane = Objects.requireNonNull(operation("first", 0).workers);
        core.pushes.lock();
        me = Objects.requireNonNull(lane.pick());
        lane.found(me);
        other = Objects.requireNonNull(lane.pick());
        lane.found(other);
        core.pushes.unlock();
        lane.bodyTimes.sample(BODY_NANOS);
    }

    private Operation operation(String name, int priority) {
        Operation op = new Operation(core, name);
        op.priority = priority;
        op.seal(TestSupport.nothing());
        core.dispatcher.route(op);
        return op;
    }

    private List<Operation> ready(int count) {
        List<Operation> ops = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Operation op = operation("op" + i, 0);
            lane.queue.add(op);
            ops.add(op);
        }
        return ops;
    }

    private @Nullable Operation fill() {
        core.lock.enter();
        Operation outside = lane.batches.fill(me, Objects.requireNonNull(lane.queue.poll()), 0);
        core.lock.exit();
        return outside;
    }

    private void idle(Worker worker) {
        core.lock.enter();
        lane.batches.setIdle(worker.batch, true);
        core.lock.exit();
    }

    /** What a worker does first when it has acquired the tracker lock. */
    private void harvest() {
        core.lock.enter();
        lane.batches.harvest(me);
        core.lock.exit();
    }

    private void bodiesAreTooLongForBatches() {
        lane.bodyTimes.forget();
        lane.bodyTimes.sample(1_000_000);
    }

    private void anotherWorkerIsAwake() {
        core.pushes.lock();
        lane.found(Objects.requireNonNull(lane.pick()));
        core.pushes.unlock();
    }

    private boolean reclaim() {
        core.lock.enter();
        boolean any = lane.batches.reclaim(me);
        core.lock.exit();
        return any;
    }

    @Test
    void anIdleWorkerGetsAnOperationBeforeTheBatchIsFilled() {
        List<Operation> ops = ready(3);
        idle(other);
        assertNull(fill());
        assertSame(ops.get(1), other.batch.claim());
        assertNull(other.batch.claim());
        assertFalse(other.batch.ownerIdle);
        assertSame(ops.get(0), me.batch.claim());
        assertSame(ops.get(2), me.batch.claim());
        assertNull(me.batch.claim());
    }

    @Test
    void anIdleWorkerGetsAnOperationThoughBodiesAreTooLongForBatches() {
        bodiesAreTooLongForBatches();
        List<Operation> ops = ready(2);
        idle(other);
        assertSame(ops.get(0), fill());
        assertSame(ops.get(1), other.batch.claim());
    }

    @Test
    void aWorkerThatRunsABodyGetsNothingBeforeTheBatchIsFull() {
        List<Operation> ops = ready(2);
        assertNull(fill());
        assertNull(other.batch.claim());
        assertSame(ops.get(0), me.batch.claim());
        assertSame(ops.get(1), me.batch.claim());
    }

    @Test
    void anOperationWithAPriorityStaysInTheQueue() {
        Operation ordinary = operation("ordinary", 0);
        Operation low = operation("low", -1);
        lane.queue.add(ordinary);
        lane.queue.add(low);
        idle(other);
        assertNull(fill());
        assertNull(other.batch.claim());
        assertTrue(other.batch.ownerIdle);
        assertSame(low, lane.queue.poll());
    }

    @Test
    void aWorkerWithNothingToRunTakesFromTheEndOfABatch() {
        List<Operation> ops = ready(2);
        other.batch.put(0, Objects.requireNonNull(lane.queue.poll()));
        other.batch.put(1, Objects.requireNonNull(lane.queue.poll()));
        other.batch.publish(2);
        assertTrue(reclaim());
        assertSame(ops.get(1), lane.queue.poll());
        assertSame(ops.get(0), other.batch.claim());
    }

    @Test
    void aWorkerThatHasReportedIsServedByTheHolderOfTheLock() {
        anotherWorkerIsAwake();
        bodiesAreTooLongForBatches();
        List<Operation> ops = ready(3);
        lane.batches.report(other.batch);
        harvest();
        assertTrue(other.batch.ownerIdle);
        assertNull(fill());
        assertSame(ops.get(1), other.batch.claim());
        assertNull(other.batch.claim());
        assertSame(ops.get(0), me.batch.claim());
        assertNull(me.batch.claim());
        assertSame(ops.get(2), lane.queue.poll());
    }

    @Test
    void aReportThatComesWhileTheHolderHandsOverIsServedToo() {
        anotherWorkerIsAwake();
        bodiesAreTooLongForBatches();
        List<Operation> ops = ready(2);
        harvest();
        lane.batches.report(other.batch);
        assertNull(fill());
        assertSame(ops.get(1), other.batch.claim());
        assertFalse(other.batch.ownerIdle);
    }

    @Test
    void aWorkerThatReportsTwiceIsInTheListOnceAndMayReportAgainAfterwards() {
        anotherWorkerIsAwake();
        lane.batches.report(other.batch);
        lane.batches.report(other.batch);
        lane.batches.report(me.batch);
        harvest();
        assertTrue(other.batch.ownerIdle);
        assertFalse(me.batch.ownerIdle, "it holds the lock");
        core.lock.enter();
        lane.batches.setIdle(other.batch, false);
        core.lock.exit();
        lane.batches.report(other.batch);
        harvest();
        assertTrue(other.batch.ownerIdle);
    }

    @Test
    void aWorkerWhoseReportIsOldAndThatRunsABodyIsNotIdle() {
        anotherWorkerIsAwake();
        ready(1);
        lane.batches.report(other.batch);
        other.batch.put(0, Objects.requireNonNull(lane.queue.poll()));
        other.batch.publish(1);
        other.batch.claim();
        harvest();
        assertFalse(other.batch.ownerIdle);
    }

    /**
     * Steps of as many operations as there are workers, each of which reads all values of the step before it: an
     * operation is handed over in each step. The bodies are long enough for several workers to share them.
     */
    @ParameterizedTest
    @ValueSource(ints = {2, 3, 8})
    void stepsOfSharedOperationsComputeWhatTheSerialProgramDoes(int width) throws InterruptedException {
        check(width, STEPS, ROUNDS);
    }

    /** As above, with bodies that are too long for batches. */
    @ParameterizedTest
    @ValueSource(ints = {3, 8})
    void stepsOfLongerOperationsComputeWhatTheSerialProgramDoes(int width) throws InterruptedException {
        check(width, STEPS / 20, 20 * ROUNDS);
    }

    private static void check(int width, int steps, int rounds) throws InterruptedException {
        long[][] values = new long[2][width];
        try (Engine engine = Engine.builder().pooled(width).build()) {
            Var[][] vars = new Var[2][width];
            for (Var[] half : vars) {
                Arrays.setAll(half, i -> engine.newVar());
            }
            for (int step = 0; step < steps; step++) {
                long[] before = values[step & 1];
                long[] after = values[1 - (step & 1)];
                for (int i = 0; i < width; i++) {
                    int column = i;
                    engine.op("step").reads(vars[step & 1]).mutates(vars[1 - (step & 1)][i])
                            .push(() -> after[column] = mixed(before, column, rounds));
                }
            }
            engine.waitForAll();
        }
        long[][] expected = new long[2][width];
        for (int step = 0; step < steps; step++) {
            long[] before = expected[step & 1];
            Arrays.setAll(expected[1 - (step & 1)], i -> mixed(before, i, rounds));
        }
        assertArrayEquals(expected, values);
    }

    private static long mixed(long[] values, int column, int rounds) {
        long sum = column + 1L;
        for (int i = 0; i < rounds; i++) {
            sum = sum * 0x9e3779b97f4a7c15L + values[i % values.length];
        }
        return sum;
    }

    @Test
    void aHandedOperationIsTakenBackFromAWorkerThatDoesNotStartIt() {
        List<Operation> ops = ready(2);
        idle(other);
        fill();
        int checks = 1;
        while (!reclaim()) {
            checks++;
        }
        assertEquals(CHECKS, checks);
        assertSame(ops.get(1), lane.queue.poll());
        assertNull(other.batch.claim());
    }
}
