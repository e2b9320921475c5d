package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static io.seriatim.tensor.DType.FLOAT32;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Place;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A thread that compiles a plan, and thereby calls the schemas of operations, holds no lock of the executor. */
@Timeout(60)
class CompileLocksTest {
    @AfterEach
    void noHooks() {
        Probes.allOff();
    }

    /** Returns a program that computes y = x · 2, with a probe. */
    private static Program twice(String key) {
        Program program = new Program();
        program.global().put(VarDesc.of("x", VarType.dense(FLOAT32, -1)))
                .put(VarDesc.of("y", VarType.dense(FLOAT32, -1)))
                .add(OpDesc.of("scale").in("X", "x").out("Out", "y").attr("scale", 2f).build())
                .add(Probes.of(Probes.CALL, "y", key));
        return program;
    }

    private static double run(Executor executor, Program program, int size) {
        return executor.run(program, Map.of("x", Bits.floats(new double[size])), fetches("y")).get("y").getDouble(0);
    }

    private static FutureTask<Double> start(Callable<Double> body) {
        FutureTask<Double> task = new FutureTask<>(body);
        Thread.ofPlatform().start(task);
        return task;
    }

    /** While the schema of one program's operation blocks, another thread compiles and runs another program. */
    @Test
    void otherProgramsAreCompiledMeanwhile() throws Exception {
        CountDownLatch inferring = new CountDownLatch(1);
        CountDownLatch released = new CountDownLatch(1);
        Probes.onInference("slow", () -> {
            inferring.countDown();
            awaitQuietly(released);
        });
        try (Executor executor = Executor.on(Place.CPU)) {
            FutureTask<Double> slow = start(() -> run(executor, twice("slow"), 1));
            inferring.await();
            assertEquals(0, run(executor, twice("fast"), 1));
            released.countDown();
            assertEquals(0, slow.get());
        }
    }

    /** While a plan is compiled for one shape, another thread runs it with another shape. */
    @Test
    void otherShapesAreRunMeanwhile() throws Exception {
        CountDownLatch inferring = new CountDownLatch(1);
        CountDownLatch released = new CountDownLatch(1);
        try (Executor executor = Executor.on(Place.CPU)) {
            Program program = twice("shapes");
            Plan plan = executor.compile(program, feeds("x"), fetches("y"));
            plan.run(Bits.floats(1));
            plan.run(Bits.floats(1, 2));
            Probes.onInference("shapes", () -> {
                inferring.countDown();
                awaitQuietly(released);
            });
            FutureTask<Double> slow = start(() -> plan.run(Bits.floats(1, 2, 3)).get("y").getDouble(2));
            inferring.await();
            assertEquals(2, plan.run(Bits.floats(1)).get("y").getDouble(0));
            assertEquals(4, plan.run(Bits.floats(1, 2)).get("y").getDouble(1));
            released.countDown();
            assertEquals(6, slow.get());
            assertEquals(3, Probes.inferred("shapes"));
        }
    }

    /** The schema of an operation runs another program on the executor, on its own thread and on another one. */
    @Test
    void aSchemaMayRunPrograms() throws Exception {
        try (Executor executor = Executor.on(Place.CPU)) {
            Probes.onInference("outer", () -> {
                assertEquals(0, run(executor, twice("inner"), 1));
                assertEquals(0, get(start(() -> run(executor, twice("other"), 1))));
            });
            assertEquals(0, run(executor, twice("outer"), 1));
        }
    }

    /**
     * A schema that runs the plan that is being compiled would wait for itself. The run fails instead, and the plan
     * works afterwards.
     */
    @Test
    void aSchemaThatRunsItsOwnPlanIsRefused() {
        try (Executor executor = Executor.on(Place.CPU)) {
            Program program = twice("itself");
            Probes.onInference("itself", () -> {
                double none = run(executor, program, 1);
                assertEquals(0, none);
            });
            Throwable thrown = assertThrows(RuntimeException.class, () -> run(executor, program, 1));
            while (thrown.getCause() != null) {
                thrown = thrown.getCause();
            }
            String message = String.valueOf(thrown.getMessage());
            assertTrue(message.contains("requires its own result, and would wait for itself"), message);
            Probes.allOff();
            assertEquals(0, run(executor, program, 1));
        }
    }

    /** Of several threads that need the same shapes, one compiles. An interrupt ends the wait of another. */
    @Test
    void aWaitForAnotherThreadsCompilationCanBeInterrupted() throws Exception {
        CountDownLatch inferring = new CountDownLatch(1);
        CountDownLatch released = new CountDownLatch(1);
        Probes.onInference("once", () -> {
            inferring.countDown();
            awaitQuietly(released);
        });
        try (Executor executor = Executor.on(Place.CPU)) {
            Plan plan = executor.compile(twice("once"), feeds("x"), fetches("y"));
            FutureTask<Double> first = start(() -> plan.run(Bits.floats(1)).get("y").getDouble(0));
            inferring.await();
            FutureTask<Double> second = new FutureTask<>(() -> plan.run(Bits.floats(1)).get("y").getDouble(0));
            Thread thread = Thread.ofPlatform().start(second);
            while (thread.getState() != Thread.State.WAITING && !second.isDone()) {
                Thread.onSpinWait();
            }
            thread.interrupt();
            Throwable cause = assertThrows(ExecutionException.class, second::get).getCause();
            assertInstanceOf(ProgramFailedException.class, cause);
            assertTrue(String.valueOf(cause.getMessage()).contains("Interrupted while another thread compiled"),
                    cause::toString);
            released.countDown();
            assertEquals(2, first.get());
            assertEquals(1, Probes.inferred("once"));
        }
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static double get(FutureTask<Double> task) {
        try {
            return task.get();
        } catch (InterruptedException | ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }
}
