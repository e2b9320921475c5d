package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static io.seriatim.tensor.DType.FLOAT32;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.Tensor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** With a waiting time, requests wait for others while processors are idle. The time never ends in these tests. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class RequestBatcherWaitTest {
    private static final Duration WAIT = Duration.ofHours(1);

    private final Executor executor = Executor.builder().build();
    /** The number of rows of each run, in order. */
    private final List<Long> rows = Collections.synchronizedList(new ArrayList<>());
    private final CountDownLatch go = new CountDownLatch(1);
    private final List<Thread> callers = Collections.synchronizedList(new ArrayList<>());
    private volatile boolean isHeld;

    @BeforeEach
    void watch() {
        executor.scope().set("w", Bits.floats(2, 3));
        Probes.on("run", x -> {
            rows.add(x.shape().dim(0));
            if (isHeld) {
                go.await();
            }
        });
    }

    @AfterEach
    void close() {
        go.countDown();
        // Those that a failed test has left would wait for an hour, and the executor for them.
        callers.forEach(Thread::interrupt);
        executor.close();
        Probes.allOff();
    }

    /** Returns a batcher of a plan that computes y = x · w. */
    private RequestBatcher batcher(int maxRows, int maxRuns) {
        Program program = new Program();
        program.global().put(VarDesc.of("x", VarType.dense(FLOAT32, -1, -1, 2)))
                .put(VarDesc.of("w", VarType.dense(FLOAT32, 2)).persistent())
                .put(VarDesc.of("y", VarType.dense(FLOAT32, -1, -1, 2))).add(Probes.of(Probes.CALL, "x", "run"))
                .add(OpDesc.of("elementwise_mul").in("X", "x").in("Y", "w").out("Out", "y").attr("axis", -1).build());
        return RequestBatcher.of(executor.compile(program, feeds("x"), fetches("y")), maxRows, maxRuns, WAIT);
    }

    /** A thread with a request of one row of {@code width} pairs. */
    private final class Caller {
        private final FutureTask<float[]> answer;
        private final Thread thread;

        Caller(RequestBatcher batcher, RunOptions options, int width, float value) {
            float[] x = new float[2 * width];
            Arrays.fill(x, value);
            answer = new FutureTask<>(() -> batcher.run(options, Tensor.of(x, 1, width, 2)).get("y").toFloatArray());
            thread = Thread.ofPlatform().start(answer);
            callers.add(thread);
        }

        Caller(RequestBatcher batcher, float value) {
            this(batcher, RunOptions.defaults(), 1, value);
        }

        /** Waits until the caller waits for its turn or for other requests. */
        Caller awaitWaiting() {
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
            while (LockSupport.getBlocker(thread) == null) {
                assertTrue(thread.isAlive() && System.nanoTime() < end,
                        () -> "It should wait, but is " + thread.getState());
                Thread.onSpinWait();
            }
            return this;
        }

        void assertAnswered(float value) throws Exception {
            float[] y = answer.get();
            for (int i = 0; i < y.length; i += 2) {
                assertArrayEquals(new float[]{2 * value, 3 * value}, new float[]{y[i], y[i + 1]});
            }
        }

        Throwable failure() {
            return Objects.requireNonNull(assertThrows(ExecutionException.class, answer::get).getCause());
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 8})
    void aFullBatchEndsTheWait(int maxRuns) throws Exception {
        RequestBatcher batcher = batcher(4, maxRuns);
        List<Caller> callers = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            callers.add(new Caller(batcher, i).awaitWaiting());
            assertEquals(List.of(), rows, "runs before the batch is full");
        }
        callers.add(new Caller(batcher, 3));
        for (int i = 0; i < 4; i++) {
            callers.get(i).assertAnswered(i);
        }
        assertEquals(List.of(4L), rows);
        assertEquals(new RequestBatcher.Counts(4, 1, 0), batcher.counts());
    }

    @Test
    void aRequestWithAllRowsDoesNotWait() throws Exception {
        RequestBatcher batcher = batcher(1, 2);
        new Caller(batcher, 5).assertAnswered(5);
        new Caller(batcher, 6).assertAnswered(6);
        assertEquals(List.of(1L, 1L), rows);
    }

    @Test
    void requestsOfOtherShapesAreGatheredApart() throws Exception {
        RequestBatcher batcher = batcher(2, 2);
        Caller narrow = new Caller(batcher, RunOptions.defaults(), 1, 1).awaitWaiting();
        Caller wide = new Caller(batcher, RunOptions.defaults(), 3, 2).awaitWaiting();
        new Caller(batcher, RunOptions.defaults(), 3, 3).assertAnswered(3);
        wide.assertAnswered(2);
        new Caller(batcher, RunOptions.defaults(), 1, 4).assertAnswered(4);
        narrow.assertAnswered(1);
        assertEquals(List.of(2L, 2L), rows);
    }

    /** The wait ends for all of them at half of the time limit; whether the second half is enough is not asked. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aTimeLimitEndsTheWait(boolean isFirst) throws Exception {
        RequestBatcher batcher = batcher(8, 2);
        RunOptions limited = RunOptions.timeout(Duration.ofMillis(400));
        Caller early = isFirst ? new Caller(batcher, limited, 1, 1) : null;
        Caller unlimited = new Caller(batcher, 2);
        // On a busy machine, a limited request may have run alone, or have ended before it began to wait.
        while (!unlimited.answer.isDone()) {
            Caller late = new Caller(batcher, limited, 1, 3);
            late.thread.join();
        }
        unlimited.assertAnswered(2);
        if (early != null) {
            early.thread.join();
        }
        assertTrue(rows.stream().mapToLong(Long::longValue).sum() >= 1);
    }

    @Test
    void theOneThatGathersCanBeInterruptedOrCancelled() throws Exception {
        RequestBatcher batcher = batcher(4, 1);
        CompletableFuture<Void> gone = new CompletableFuture<>();
        Caller interrupted = new Caller(batcher, 1).awaitWaiting();
        Caller cancelled = new Caller(batcher, RunOptions.defaults().cancelOn(gone), 1, 2).awaitWaiting();
        Caller third = new Caller(batcher, 3).awaitWaiting();
        interrupted.thread.interrupt();
        assertEquals("Interrupted while the request waited for its turn; it was not run",
                assertInstanceOf(ProgramFailedException.class, interrupted.failure()).getMessage());
        cancelled.awaitWaiting();
        gone.complete(null);
        assertInstanceOf(CancellationException.class, cancelled.failure());
        third.awaitWaiting();
        for (int i = 4; i < 6; i++) {
            new Caller(batcher, i).awaitWaiting();
        }
        new Caller(batcher, 6).assertAnswered(6);
        third.assertAnswered(3);
        assertEquals(List.of(4L), rows);
    }

    /** A request whose rows another thread computes ends at once; the others do not notice it. */
    @Test
    void aRequestThatAnotherThreadRunsCanBeCancelled() throws Exception {
        isHeld = true;
        RequestBatcher batcher = batcher(2, 1);
        CompletableFuture<Void> gone = new CompletableFuture<>();
        Caller leader = new Caller(batcher, 1).awaitWaiting();
        Caller member = new Caller(batcher, RunOptions.defaults().cancelOn(gone), 1, 2);
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (rows.isEmpty()) {
            assertTrue(System.nanoTime() < end, "The batch should run");
            Thread.onSpinWait();
        }
        gone.complete(null);
        assertInstanceOf(CancellationException.class, member.failure());
        go.countDown();
        leader.assertAnswered(1);
        assertEquals(List.of(2L), rows);
        assertEquals(new RequestBatcher.Counts(2, 1, 0), batcher.counts());
    }

    @Test
    void aRequestOfOneRunIsStopped() {
        RequestBatcher batcher = batcher(1, 1);
        assertInstanceOf(RunTimeoutException.class,
                new Caller(batcher, RunOptions.timeout(Duration.ZERO), 1, 1).failure());
        assertEquals(List.of(), rows);
    }

    @Test
    void aNegativeTimeIsRefused() {
        Duration negative = Duration.ofNanos(-1);
        String message = assertThrows(IllegalArgumentException.class, () -> RequestBatcher.requireWait(negative))
                .getMessage();
        assertEquals("The time for which requests wait for others must be 0 or more, but is PT-0.000000001S", message);
    }
}
