package io.seriatim.executor;

import static io.seriatim.tensor.DType.FLOAT32;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.engine.Engine;
import io.seriatim.engine.Lane;
import io.seriatim.engine.Var;
import io.seriatim.executor.run.Cancellation;
import io.seriatim.executor.run.Frame;
import io.seriatim.executor.run.HelperPool;
import io.seriatim.executor.run.OpenRuns;
import io.seriatim.executor.run.ParallelRunLoop;
import io.seriatim.executor.run.RunContext;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.executor.schedule.CriticalPaths;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Checks {@link ClosingContract}, and that it detects injected bugs. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class ClosingTest {
    /** A bug in the counting of runs. */
    enum Bug {
        NONE, DOES_NOT_WAIT, REFUSES_NOTHING, REFUSES_WHAT_A_RUN_BEGINS, //
        DOES_NOT_COUNT_OFF, FORGETS_PUSHED_RUNS, REFUSES_PUSHED_RUNS
    }

    private static final class Mutant extends OpenRuns {
        private final Bug bug;
        private volatile boolean closing;

        Mutant(Bug bug) {
            this.bug = bug;
        }

        @Override
        public Inside begin() {
            return switch (bug) {
                // As if the thread were within a run.
                case REFUSES_NOTHING, DOES_NOT_WAIT -> help();
                case REFUSES_WHAT_A_RUN_BEGINS -> {
                    if (closing) {
                        throw new IllegalStateException("The executor is closed");
                    }
                    yield super.begin();
                }
                default -> super.begin();
            };
        }

        @Override
        public Inside beginPushed() {
            return bug == Bug.REFUSES_PUSHED_RUNS ? begin() : super.beginPushed();
        }

        @Override
        public synchronized void pushed(Engine engine, Var scope) {
            if (bug != Bug.FORGETS_PUSHED_RUNS) {
                super.pushed(engine, scope);
            }
        }

        @Override
        public void end(Inside inside) {
            if (bug != Bug.DOES_NOT_COUNT_OFF) {
                super.end(inside);
            }
        }

        @Override
        public void close(@Nullable Engine shared) {
            closing = true;
            super.close(shared);
        }
    }

    @AfterEach
    void noHooks() {
        Probes.allOff();
    }

    @ParameterizedTest
    @EnumSource
    void holdsForAnExecutorWithThreads(ClosingContract rule) throws Exception {
        rule.check(Executor.builder().threads(3).eager().build(), Duration.ofSeconds(20));
    }

    @ParameterizedTest
    @EnumSource
    void holdsForAnExecutorWithoutThreads(ClosingContract rule) throws Exception {
        rule.check(Executor.builder().build(), Duration.ofSeconds(20));
    }

    @ParameterizedTest
    @EnumSource
    void holdsForAnExecutorOnASharedEngine(ClosingContract rule) throws Exception {
        try (Engine engine = Engine.builder().workers(Lane.CPU, 1).build()) {
            rule.check(Executor.builder().engine(engine).build(), Duration.ofSeconds(20));
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void eachPlantedBugIsCaught(Bug bug) {
        assertTrue(Arrays.stream(ClosingContract.values()).anyMatch(rule -> fails(rule, bug)),
                () -> bug + " is not caught");
    }

    private static boolean fails(ClosingContract rule, Bug bug) {
        try {
            // A hang also reveals the bug; it takes the whole limit.
            rule.check(Executor.builder().threads(3).eager().openRuns(new Mutant(bug)).build(), Duration.ofMillis(500));
            return false;
        } catch (Exception | AssertionError e) {
            return true;
        } finally {
            Probes.allOff();
        }
    }

    /**
     * A request for helpers that cannot be pushed is withdrawn. Otherwise a helper that saw it would use the frame of
     * another run and never leave.
     */
    @Test
    void aCallThatFailsIsNoCall() {
        Engine engine = Engine.builder().workers(Lane.CPU, 1).build();
        HelperPool helpers = new HelperPool(engine, new OpenRuns(), 2);
        try (Executor executor = Executor.builder().threads(2).eager().fusion(false).build()) {
            Program program = ClosingContract.doubling();
            program.global().put(VarDesc.of("z", VarType.dense(FLOAT32, -1)))
                    .add(OpDesc.of("tanh").in("X", "x").out("Out", "z").build());
            Plan plan = executor.compile(program, Executor.feeds("x"), Executor.fetches("y", "z"));
            CompiledPlan known = plan.specialisation(new Scope(), Bits.floats(1));
            ParallelRunLoop crew = new ParallelRunLoop(known, CriticalPaths.of(known), helpers, 2);
            engine.close();
            for (int i = 0; i < 40; i++) {
                try (Frame frame = Frame.alone(known, executor.options(), executor.streams())) {
                    frame.begin(new RunContext(new Object[]{Bits.floats(1)}, new Scope().bindings(), () -> {
                        throw new IllegalStateException("No session is needed");
                    }, new Cancellation(), null, ReadInstruction::next), null);
                    IllegalStateException refused = assertThrows(IllegalStateException.class, () -> crew.run(frame));
                    assertTrue(String.valueOf(refused.getMessage()).contains("closed"), refused.getMessage());
                    assertFalse(helpers.isCalled(), "after call " + i);
                    frame.end();
                }
            }
        }
    }

    @Test
    void anInterruptEndsTheWaitOnly() throws Exception {
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        Probes.on("in", _ -> {
            inside.countDown();
            go.await();
        });
        Executor executor = Executor.builder().threads(2).eager().build();
        Program program = ClosingContract.doubling();
        program.global().add(Probes.of(Probes.CALL, "y", "in"));
        Plan plan = executor.compile(program, Executor.feeds("x"), Executor.fetches("y"));
        CompletableFuture<Results> run = new CompletableFuture<>();
        Thread runner = Thread.ofPlatform().daemon().start(() -> run.complete(plan.run(Bits.floats(2))));
        try {
            inside.await();
            for (int i = 0; i < 2; i++) {
                Thread.currentThread().interrupt();
                IllegalStateException interrupted = assertThrows(IllegalStateException.class, executor::close);
                assertTrue(Thread.interrupted() && String.valueOf(interrupted.getMessage()).contains("close it again"),
                        interrupted.getMessage());
            }
        } finally {
            go.countDown();
        }
        assertEquals(4, run.get(20, TimeUnit.SECONDS).scalar("y"));
        runner.join();
        Thread.currentThread().interrupt();
        executor.close();
        assertTrue(Thread.interrupted(), "it stays interrupted, and closes what need not be waited for");
    }
}
