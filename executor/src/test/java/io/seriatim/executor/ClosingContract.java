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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** What an executor promises when it is closed while runs are under way. */
enum ClosingContract {
    /** One that has begun to compute. */
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
    /** One that waits for its turn on the scope, and calls its helpers after the executor has begun to close. */
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
    /** While it closes, and afterwards. */
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
    /** With an exception and with an error, of a task and of what is fed. */
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
    /** What a run begins is part of it. */
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
    /** Those that have not begun, too. */
    PUSHED_RUNS_HAPPEN {
        @Override
        void check(Executor executor, Scene scene) throws Exception {
            scene.go.countDown();
            try (Engine engine = Engine.builder().pooled(1).onUnhandled(_ -> {
                // One of the runs fails, and nobody looks at it.
            }).build()) {
                NDArrays nd = NDArrays.on(engine);
                NDArray x = nd.zeros(1);
                NDArray after = nd.zeros(1);
                CompletableFuture<Completion> held = new CompletableFuture<>();
                Scope scope = new Scope().set("count", Scene.number(7));
                engine.op("holds the scope").mutates(scope.var(engine)).pushAsync(held::complete);
                scene.plan.push(engine, scope, Map.of("x", x), Map.of("after", after));
                // One that fails, and one that is skipped for that.
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

    /** Throws if the executor does not keep the promise; what hangs does so for the limit. */
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

    /** A plan whose runs stand in the middle until they are let go on. */
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

        /** count += x, with a probe before, and something for helpers to do beside. */
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

        /** Until the thread that was started last stands still, with its work not done. */
        void assertWaits(CompletableFuture<?> work) {
            Thread thread = java.util.Objects.requireNonNull(last);
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

        /** On a thread of its own, since what is not refused may hang. */
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
