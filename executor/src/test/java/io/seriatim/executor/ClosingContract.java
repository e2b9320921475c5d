package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static io.seriatim.tensor.DType.FLOAT32;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.engine.Completion;
import io.seriatim.engine.Engine;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.array.NDArray;
import io.seriatim.tensor.array.NDArrays;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** The guarantees of an executor that is closed while runs are in progress. */
enum ClosingContract {
    /** The run executes a task when the executor is closed. */
    A_RUN_THAT_COMPUTES_ENDS_NORMALLY {
        @Override
        void check(Executor executor, Scene scene) throws Exception {
            CompletableFuture<Results> run = scene.run(1);
            scene.inside.await();
            CompletableFuture<Void> closed = scene.close();
            scene.assertWaits(closed);
            scene.go.countDown();
            assertEquals(1, scene.get(run).scalar("after"));
            scene.get(closed);
        }
    },
    /** The run waits for the scope, and requests helpers after the executor has begun to close. */
    A_RUN_THAT_WAITS_ENDS_NORMALLY {
        @Override
        void check(Executor executor, Scene scene) throws Exception {
            CompletableFuture<Results> first = scene.run(1);
            scene.inside.await();
            CompletableFuture<Results> second = scene.run(2);
            scene.assertWaits(second);
            CompletableFuture<Void> closed = scene.close();
            scene.assertWaits(closed);
            scene.go.countDown();
            assertEquals(1, scene.get(first).scalar("after"));
            assertEquals(3, scene.get(second).scalar("after"));
            scene.get(closed);
        }
    },
    /** A run is refused while the executor is being closed, and afterwards. */
    A_LATER_RUN_IS_REFUSED {
        @Override
        void check(Executor executor, Scene scene) throws Exception {
            CompletableFuture<Results> run = scene.run(1);
            scene.inside.await();
            CompletableFuture<Void> closed = scene.close();
            scene.assertWaits(closed);
            scene.assertRefused(() -> scene.plan.run(Scene.number(5)));
            scene.go.countDown();
            scene.get(run);
            scene.get(closed);
            scene.assertRefused(() -> scene.plan.run(Scene.number(5)));
            scene.assertRefused(() -> executor.run(Scene.counting(), Map.of("x", Scene.number(1)), fetches("after")));
            RequestBatcher batcher = RequestBatcher.of(executor.compile(doubling(), feeds("x"), fetches("y")), 2, 1);
            scene.assertRefused(() -> batcher.run(Bits.floats(1)));
            try (Engine engine = Engine.create()) {
                NDArrays nd = NDArrays.on(engine);
                scene.assertRefused(() -> scene.plan.push(engine, new Scope(), Map.of("x", nd.zeros(1)), Map.of()));
            }
        }
    },
    /** The run fails with an exception or an error, in a task or because of its feeds. */
    A_RUN_THAT_FAILS_IS_COUNTED_OFF {
        @Override
        void check(Executor executor, Scene scene) throws Exception {
            for (Throwable planted : new Throwable[]{new IllegalStateException("planted"),
                    new OutOfMemoryError("planted")}) {
                AtomicReference<Throwable> thrown = new AtomicReference<>(planted);
                Probes.on("between", _ -> sneak(thrown.get()));
                ProgramFailedException failed = assertThrows(ProgramFailedException.class,
                        () -> scene.plan.run(Scene.number(1)));
                assertEquals(planted, failed.getCause());
            }
            assertThrows(IllegalArgumentException.class, scene.plan::run);
            scene.get(scene.close());
        }
    },
    /** A run that another run starts is part of it. */
    A_RUN_INSIDE_OF_A_RUN_IS_NOT_REFUSED {
        @Override
        void check(Executor executor, Scene scene) throws Exception {
            Plan inner = executor.compile(doubling(), feeds("x"), fetches("y"));
            AtomicReference<Results> got = new AtomicReference<>();
            AtomicReference<Throwable> refused = new AtomicReference<>();
            Probes.on("between", _ -> {
                scene.inside.countDown();
                scene.go.await();
                got.set(inner.run(new Scope(), Bits.floats(4)));
                refused.set(assertThrows(IllegalStateException.class, executor::close));
            });
            CompletableFuture<Results> run = scene.run(1);
            scene.inside.await();
            CompletableFuture<Void> closed = scene.close();
            scene.assertWaits(closed);
            scene.go.countDown();
            assertEquals(1, scene.get(run).scalar("after"));
            assertEquals(8, got.get().scalar("y"));
            assertTrue(String.valueOf(refused.get().getMessage()).contains("within one of its own runs"),
                    () -> "" + refused.get());
            scene.get(closed);
        }
    },
    /** Runs that were pushed complete, including those that have not started. */
    PUSHED_RUNS_HAPPEN {
        @Override
        void check(Executor executor, Scene scene) throws Exception {
            scene.go.countDown();
            try (Engine engine = Engine.builder().pooled(1).onUnhandled(_ -> {
                // One of the runs fails, and no caller examines its result.
            }).build()) {
                NDArrays nd = NDArrays.on(engine);
                NDArray x = nd.zeros(1);
                NDArray after = nd.zeros(1);
                CompletableFuture<Completion> held = new CompletableFuture<>();
                Scope scope = new Scope().set("count", Scene.number(7));
                engine.op("holds the scope").mutates(scope.var(engine)).pushAsync(held::complete);
                scene.plan.push(engine, scope, Map.of("x", x), Map.of("after", after));
                // One run fails, and one is skipped for that reason.
                scene.plan.push(engine, scope, Map.of("x", nd.zeros(2)), Map.of("after", nd.zeros(1)));
                scene.plan.push(engine, scope, Map.of("x", x), Map.of("after", nd.zeros(1)));
                CompletableFuture<Void> closed = scene.close();
                try {
                    scene.assertWaits(closed);
                } finally {
                    held.get(20, TimeUnit.SECONDS).complete();
                }
                scene.get(closed);
                assertArrayEquals(new float[]{7}, after.toArray());
            }
        }
    };

    abstract void check(Executor executor, Scene scene) throws Exception;

    /** Throws if the executor violates the guarantee. A thread that hangs is detected after {@code limit}. */
    void check(Executor executor, Duration limit) throws Exception {
        Scene scene = new Scene(executor, limit);
        try {
            check(executor, scene);
        } finally {
            scene.go.countDown();
        }
    }

    /** y = 2 x. */
    static Program doubling() {
        Program program = new Program();
        program.global().put(VarDesc.of("x", VarType.dense(FLOAT32, -1)))
                .put(VarDesc.of("y", VarType.dense(FLOAT32, -1)))
                .add(OpDesc.of("scale").in("X", "x").out("Out", "y").attr("scale", 2f).build());
        return program;
    }

    @SuppressWarnings("unchecked")
    private static <E extends Throwable> void sneak(Throwable thrown) throws E {
        throw (E) thrown;
    }

    /** A plan whose runs block in the middle until the test releases them. */
    static final class Scene {
        final CountDownLatch inside = new CountDownLatch(1);
        final CountDownLatch go = new CountDownLatch(1);
        final Plan plan;
        private final Executor executor;
        private final Duration limit;
        private @Nullable Thread last;

        Scene(Executor executor, Duration limit) {
            this.executor = executor;
            this.limit = limit;
            executor.scope().set("count", number(0));
            plan = executor.compile(counting(), feeds("x"), fetches("after"));
            Probes.on("between", _ -> {
                inside.countDown();
                go.await();
            });
        }

        static Tensor number(float value) {
            return Tensor.of(new float[]{value}, 1);
        }

        /** Returns a program that computes count += x after a probe, and has other tasks for helpers. */
        static Program counting() {
            Program program = new Program();
            program.global().put(VarDesc.of("x", VarType.dense(FLOAT32, -1)))
                    .put(VarDesc.of("count", VarType.dense(FLOAT32, 1)).persistent())
                    .put(VarDesc.of("after", VarType.dense(FLOAT32, 1)))
                    .put(VarDesc.of("beside", VarType.dense(FLOAT32, 1)))
                    .add(Probes.of(Probes.CALL, "count", "between"))
                    .add(OpDesc.of("elementwise_add").in("X", "count").in("Y", "x").out("Out", "count").attr("axis", -1)
                            .build())
                    .add(OpDesc.of("scale").in("X", "x").out("Out", "beside").attr("scale", 0f).build())
                    .add(OpDesc.of("elementwise_add").in("X", "count").in("Y", "beside").out("Out", "after")
                            .attr("axis", -1).build());
            return program;
        }

        CompletableFuture<Results> run(float x) {
            CompletableFuture<Results> run = new CompletableFuture<>();
            start(() -> run.complete(plan.run(number(x))), run);
            return run;
        }

        CompletableFuture<Void> close() {
            CompletableFuture<Void> closed = new CompletableFuture<>();
            start(() -> {
                executor.close();
                closed.complete(null);
            }, closed);
            return closed;
        }

        private void start(Runnable work, CompletableFuture<?> end) {
            last = Thread.ofPlatform().daemon().start(() -> {
                try {
                    work.run();
                } catch (RuntimeException | Error e) {
                    end.completeExceptionally(e);
                }
            });
        }

        /** Waits until the thread that was started last blocks, and asserts that its work is not done. */
        void assertWaits(CompletableFuture<?> work) {
            Thread thread = Objects.requireNonNull(last);
            long end = System.nanoTime() + limit.toNanos();
            while (thread.getState() != Thread.State.WAITING && thread.getState() != Thread.State.TIMED_WAITING) {
                assertTrue(thread.isAlive() && !work.isDone() && System.nanoTime() < end,
                        () -> "It should wait: " + work + ", " + thread);
                Thread.onSpinWait();
            }
        }

        <T> T get(CompletableFuture<T> work) throws InterruptedException, TimeoutException {
            try {
                return work.get(limit.toNanos(), TimeUnit.NANOSECONDS);
            } catch (ExecutionException e) {
                throw new AssertionError("It should end normally", e.getCause());
            }
        }

        /** Asserts that a run is refused. It runs on a separate thread, because a run that is not refused may hang. */
        void assertRefused(Runnable begin) throws InterruptedException, TimeoutException {
            CompletableFuture<Void> ended = new CompletableFuture<>();
            start(() -> {
                begin.run();
                ended.complete(null);
            }, ended);
            try {
                ended.get(limit.toNanos(), TimeUnit.NANOSECONDS);
                throw new AssertionError("It is not refused");
            } catch (ExecutionException e) {
                IllegalStateException refused = assertInstanceOf(IllegalStateException.class, e.getCause());
                assertTrue(String.valueOf(refused.getMessage()).contains("executor is closed"), refused.getMessage());
            }
        }
    }
}
