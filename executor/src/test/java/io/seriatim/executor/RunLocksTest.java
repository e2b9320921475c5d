package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static io.seriatim.tensor.DType.FLOAT32;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Place;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A run takes batches from the sources of readers, which are user code, before it holds the lock of its scope. */
@Timeout(60)
class RunLocksTest {
    private static final VarType ANY = VarType.dense(FLOAT32, -1);

    /** Returns a program that computes w = w · 10 + x, where x is read from a reader or fed. */
    private static Program appending(boolean reads) {
        Program program = new Program();
        program.global().put(VarDesc.of("x", ANY)).put(VarDesc.of("scaled", ANY))
                .put(VarDesc.of("w", ANY).persistent());
        if (reads) {
            program.global()
                    .put(VarDesc.of("data",
                            new VarType.Reader(List.of(new VarType.Dense(VarType.TensorType.of(FLOAT32, -1), null))))
                            .persistent())
                    .add(OpDesc.of("read").in("Reader", "data").out("Out", "x").build());
        }
        program.global().add(OpDesc.of("scale").in("X", "w").out("Out", "scaled").attr("scale", 10f).build())
                .add(OpDesc.of("elementwise_add").in("X", "scaled").in("Y", "x").out("Out", "w").attr("axis", -1)
                        .build());
        return program;
    }

    /** Supplies 1, 2, 3, …, and runs an action of the test before each. */
    private static class Counting implements BatchSource {
        private int given;

        void before() throws Exception {
            // Nothing unless a test says otherwise.
        }

        @Override
        public @Nullable List<Tensor> next() throws Exception {
            int batch = ++given;
            before();
            return List.of(Bits.floats(batch));
        }

        @Override
        public void reset() {
            given = 0;
        }
    }

    private static FutureTask<Double> start(Plan plan) {
        FutureTask<Double> task = new FutureTask<>(() -> plan.run().get("w").getDouble(0));
        Thread.ofPlatform().start(task);
        return task;
    }

    @Test
    void otherRunsChangeTheScopeWhileASourceIsAsked() throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch answer = new CountDownLatch(1);
        try (Executor executor = Executor.on(Place.CPU); Reader reader = Reader.of(new Counting() {
            @Override
            void before() throws Exception {
                asked.countDown();
                answer.await();
            }
        })) {
            executor.scope().set("w", Bits.floats(0));
            executor.scope().set("data", reader);
            Plan reading = executor.compile(appending(true), feeds(), fetches("w"));
            Plan fed = executor.compile(appending(false), feeds("x"), fetches("w"));
            FutureTask<Double> waiting = start(reading);
            asked.await();
            assertEquals(7, fed.run(Bits.floats(7)).get("w").getDouble(0));
            assertEquals(78, fed.run(Bits.floats(8)).get("w").getDouble(0));
            assertFalse(waiting.isDone());
            answer.countDown();
            assertEquals(781, waiting.get());
        }
    }

    /** The digits of w are the batches in the order of the source, regardless of the threads that ran. */
    @Test
    void threadsApplyBatchesInTheOrderOfTheSource() throws Exception {
        for (int round = 0; round < 50; round++) {
            try (Executor executor = Executor.on(Place.CPU); Reader reader = Reader.of(new Counting())) {
                executor.scope().set("w", Bits.floats(0));
                executor.scope().set("data", reader);
                Plan plan = executor.compile(appending(true), feeds(), fetches("w"));
                List<FutureTask<Double>> runs = new ArrayList<>();
                for (int i = 0; i < 6; i++) {
                    runs.add(start(plan));
                }
                List<Double> seen = Collections.synchronizedList(new ArrayList<>());
                for (FutureTask<Double> run : runs) {
                    seen.add(run.get());
                }
                Collections.sort(seen);
                assertEquals(List.of(1.0, 12.0, 123.0, 1234.0, 12345.0, 123456.0), seen);
            }
        }
    }

    /**
     * A run that is interrupted after it has taken its batch and before it acquires the scope returns the batch, which
     * the next run receives.
     */
    @Test
    void aRunThatGivesUpWhileItWaitsForTheScopeLosesNoBatch() throws Exception {
        CountDownLatch running = new CountDownLatch(1);
        CountDownLatch released = new CountDownLatch(1);
        Probes.onInference("holds", () -> {
            running.countDown();
            try {
                released.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        try (Executor executor = Executor.on(Place.CPU); Reader reader = Reader.of(new Counting())) {
            executor.scope().set("w", Bits.floats(0));
            executor.scope().set("data", reader);
            Plan holding = executor.compile(
                    appending(false).global().add(Probes.of(Probes.CALL, "w", "holds")).program(), feeds("x"),
                    fetches("w"));
            Plan reading = executor.compile(appending(true), feeds(), fetches("w"));
            FutureTask<Double> holds = new FutureTask<>(() -> holding.run(Bits.floats(5)).get("w").getDouble(0));
            Thread.ofPlatform().start(holds);
            running.await();
            FutureTask<Double> waiting = new FutureTask<>(() -> reading.run().get("w").getDouble(0));
            Thread thread = Thread.ofPlatform().start(waiting);
            while (thread.getState() != Thread.State.WAITING && !waiting.isDone()) {
                Thread.onSpinWait();
            }
            thread.interrupt();
            Throwable cause = assertThrows(ExecutionException.class, waiting::get).getCause();
            assertInstanceOf(ProgramFailedException.class, cause);
            released.countDown();
            assertEquals(5, holds.get());
            assertEquals(51, reading.run().get("w").getDouble(0));
        } finally {
            Probes.allOff();
        }
    }

    @Test
    void aTurnComesAfterAllEarlierTurnsHavePassed() throws Exception {
        RunOrder order = new RunOrder();
        RunOrder.Turn first = order.turn();
        RunOrder.Turn second = order.turn();
        RunOrder.Turn third = order.turn();
        first.await();
        second.pass();
        FutureTask<Boolean> waits = new FutureTask<>(() -> {
            third.await();
            return true;
        });
        Thread thread = Thread.ofPlatform().start(waits);
        while (thread.getState() != Thread.State.WAITING && !waits.isDone()) {
            Thread.onSpinWait();
        }
        assertFalse(waits.isDone(), "the second turn had passed, but not the first");
        first.pass();
        assertTrue(waits.get());
    }
}
