package io.seriatim.executor.run;

import static io.seriatim.tensor.DType.FLOAT32;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.engine.Engine;
import io.seriatim.engine.Lane;
import io.seriatim.executor.Bits;
import io.seriatim.executor.Executor;
import io.seriatim.executor.Internals;
import io.seriatim.executor.Plan;
import io.seriatim.executor.PlanProbe;
import io.seriatim.executor.Probes;
import io.seriatim.executor.Scope;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.executor.schedule.CriticalPaths;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.Tensor;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * An error outside of tasks, such as an OutOfMemoryError while a task is queued, ends the run: the other threads leave,
 * and only then is the frame released. To provoke an error, the test uses a table that is too short for the last
 * successor of a task.
 */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class ParallelRunLoopTest {
    private static final int TASKS = 6;

    private final Engine engine = Engine.builder().workers(Lane.CPU, 1).build();
    private final Executor executor = PlanProbe.eager(Executor.builder().threads(2)).fusion(false).build();
    private final CompiledPlan plan = specialisation();
    private final Frame frame = Frame.alone(plan, Internals.options(executor), Internals.streams(executor));

    @BeforeEach
    void begin() {
        frame.begin(
                new RunContext(new Object[]{Bits.floats(1), Bits.floats(2)}, Internals.bindings(new Scope()), () -> {
                    throw new IllegalStateException("No session is needed");
                }, new Cancellation(), null, Internals.batches()), null);
    }

    @AfterEach
    void close() {
        Probes.allOff();
        frame.end();
        frame.close();
        executor.close();
        engine.close();
    }

    /** Returns a plan in which task 0 is independent and four tasks wait for task 1. */
    private CompiledPlan specialisation() {
        Program program = new Program();
        program.global().put(VarDesc.of("x", VarType.dense(FLOAT32, -1)))
                .put(VarDesc.of("z", VarType.dense(FLOAT32, -1)))
                .put(VarDesc.of("b", VarType.dense(FLOAT32, -1))).add(Probes.of(Probes.CALL, "x", "first"))
                .add(OpDesc.of("tanh").in("X", "z").out("Out", "b").build());
        String[] results = {"x", "b", "c0", "c1", "c2", "c3"};
        for (int i = 2; i < TASKS; i++) {
            program.global().put(VarDesc.of(results[i], VarType.dense(FLOAT32, -1)))
                    .add(OpDesc.of("exp").in("X", "b").out("Out", results[i]).build());
        }
        Plan compiled = executor.compile(program, Executor.feeds("x", "z"), Executor.fetches(results));
        CompiledPlan compiledPlan = Internals.compiled(compiled, new Scope(), Bits.floats(1), Bits.floats(2));
        assertEquals(TASKS, compiledPlan.tasks().size());
        assertEquals(4, compiledPlan.after()[1].length);
        return compiledPlan;
    }

    private ParallelRunLoop crew(int threads) {
        CriticalPaths tooShort = new CriticalPaths(new long[]{100, 50, 9, 8, 7}, 100, 200, new int[0]);
        return new ParallelRunLoop(plan, tooShort, new HelperPool(engine, new OpenRuns(), 1), threads);
    }

    @Test
    void whatTheCallerMeetsEndsTheRun() {
        ParallelRunLoop crew = crew(1);
        assertThrows(ArrayIndexOutOfBoundsException.class, () -> crew.run(frame));
        assertFalse(Objects.requireNonNull(frame.run()).help(), "a helper that comes late does not touch the frame");
    }

    @Test
    void whatAHelperMeetsEndsTheRun() throws Exception {
        CountDownLatch inside = new CountDownLatch(1);
        Probes.on("first", _ -> {
            inside.countDown();
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
            while (!frame.context().cancellation().isCancelled()) {
                assertTrue(System.nanoTime() < end, "The run should be over");
                Thread.onSpinWait();
            }
        });
        CompletableFuture<Tensor> caller = new CompletableFuture<>();
        ParallelRunLoop crew = crew(1);
        Thread.ofPlatform().daemon().start(() -> {
            try {
                crew.run(frame);
                caller.complete(Bits.floats(0));
            } catch (RuntimeException | Error e) {
                caller.completeExceptionally(e);
            }
        });
        inside.await();
        Objects.requireNonNull(frame.run()).help();
        ExecutionException failed = assertThrows(ExecutionException.class, () -> caller.get(20, TimeUnit.SECONDS));
        assertInstanceOf(ArrayIndexOutOfBoundsException.class, failed.getCause());
        assertFalse(Objects.requireNonNull(frame.run()).help());
    }
}
