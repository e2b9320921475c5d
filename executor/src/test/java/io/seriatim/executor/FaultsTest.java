package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT64;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests failures of runs: how they are reported, and that the next run works. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class FaultsTest {
    @AfterEach
    void noHooks() {
        Probes.allOff();
    }

    private static String message(Throwable thrown) {
        return String.valueOf(thrown.getMessage());
    }

    /** Returns a program of {@code branches} independent probes with the keys p0, p1, …, and their sum. */
    private static Program branches(int branches, String type) {
        Program program = new Program();
        program.global().put(VarDesc.of("x", VarType.dense(FLOAT32, -1)))
                .put(VarDesc.of("sum", VarType.dense(FLOAT32, -1)));
        String[] names = new String[branches];
        for (int i = 0; i < branches; i++) {
            names[i] = "y" + i;
            program.global().put(VarDesc.of(names[i], VarType.dense(FLOAT32, -1)))
                    .add(OpDesc.of(type).in("X", "x").out("Out", names[i]).attr("key", "p" + i).build());
        }
        program.global().add(OpDesc.of("sum").in("X", names).out("Out", "sum").build());
        return program;
    }

    @ParameterizedTest
    @ValueSource(strings = {Probes.CALL, Probes.KERNEL})
    void theFirstOfSeveralFailuresWinsAndHasTheOthers(String type) {
        try (Executor executor = Executor.builder().threads(2).eager().build()) {
            Plan plan = executor.compile(branches(2, type), feeds("x"), fetches("sum"));
            for (int run = 0; run < 20; run++) {
                Meeting both = new Meeting(2);
                for (String key : List.of("p0", "p1")) {
                    Probes.on(key, _ -> {
                        both.await();
                        throw new IllegalStateException(key);
                    });
                }
                ProgramFailedException first = assertThrows(ProgramFailedException.class,
                        () -> plan.run(Bits.floats(1)));
                assertEquals(1, first.getSuppressed().length,
                        () -> "suppressed: " + Arrays.toString(first.getSuppressed()));
                ProgramFailedException second = assertInstanceOf(ProgramFailedException.class,
                        first.getSuppressed()[0]);
                assertEquals(Set.of("p0", "p1"),
                        new TreeSet<>(List.of(message(Objects.requireNonNull(first.getCause())),
                                message(Objects.requireNonNull(second.getCause())))));
                Probes.allOff();
                assertEquals(2, plan.run(Bits.floats(1)).scalar("sum"), "the next run works");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void nothingBeginsAfterAFailure(int threads) {
        Program program = new Program();
        program.global().put(VarDesc.of("x", VarType.dense(FLOAT32, 1)));
        AtomicInteger ran = new AtomicInteger();
        for (int i = 0; i < 30; i++) {
            program.global().add(Probes.of(Probes.CALL, "x", "step" + i));
            Probes.on("step" + i, i == 10 ? _ -> {
                throw new IllegalStateException("here");
            } : _ -> ran.incrementAndGet());
        }
        try (Executor executor = Executor.builder().threads(threads).eager().build()) {
            Plan plan = executor.compile(program, feeds("x"), fetches("x"));
            for (int run = 1; run <= 5; run++) {
                assertThrows(ProgramFailedException.class, () -> plan.run(Bits.floats(1)));
                assertEquals(10 * run, ran.get());
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void aCheckedExceptionIsTheCause(int threads) {
        try (Executor executor = Executor.builder().threads(threads).eager().build()) {
            Plan plan = executor.compile(branches(2, Probes.CALL), feeds("x"), fetches("sum"));
            IOException fault = new IOException("disk");
            Probes.on("p1", _ -> {
                throw fault;
            });
            ProgramFailedException thrown = assertThrows(ProgramFailedException.class, () -> plan.run(Bits.floats(1)));
            assertSame(fault, thrown.getCause());
            Probes.allOff();
            assertEquals(2, plan.run(Bits.floats(1)).scalar("sum"), "the next run works");
        }
    }

    @ParameterizedTest
    @CsvSource({"1,test_probe", "2,test_probe", "1,test_kernel", "2,test_kernel"})
    void anErrorReachesTheCaller(int threads, String type) {
        try (Executor executor = Executor.builder().threads(threads).eager().build()) {
            Plan plan = executor.compile(branches(2, type), feeds("x"), fetches("sum"));
            Error fault = new StackOverflowError("deep");
            for (String key : List.of("p0", "p1")) {
                Probes.on(key, _ -> {
                    throw fault;
                });
                Throwable thrown = assertThrows(Throwable.class, () -> plan.run(Bits.floats(1)));
                assertSame(fault, thrown instanceof ProgramFailedException ? thrown.getCause() : thrown);
                Probes.allOff();
                assertEquals(2, plan.run(Bits.floats(1)).scalar("sum"), "the next run works");
            }
        }
    }

    @Test
    void theInnermostLineOutsideOfTheFrameworkIsNamed() {
        Program failing = Probes.before(branches(1, Probes.CALL), 0, Probes.CALL, "built",
                "  File \"/home/me/train.py\", line 12, in <module>", "    y = net(x)",
                "  File \"/home/me/net.py\", line 7, in net",
                "    return paddle.scale(x, 2)",
                "  File \"/usr/lib/python3/site-packages/paddle/tensor/math.py\", line 501, in scale",
                "    helper.append_op(",
                "  File \"/usr/lib/python3/site-packages/paddle/base/framework.py\", line 3016, in __init__",
                "    for frame in traceback.extract_stack():");
        Probes.on("built", _ -> {
            throw new IllegalStateException("no more");
        });
        try (Executor executor = Executor.builder().build()) {
            Plan plan = executor.compile(failing, feeds("x"), fetches("sum"));
            ProgramFailedException failure = assertThrows(ProgramFailedException.class, () -> plan.run(Bits.floats(1)));
            String text = message(failure);
            assertTrue(text.endsWith("; built at File \"/home/me/net.py\", line 7, in net"), text);
            assertEquals(8, failure.callStack().size());
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void anOperationThatIsInterruptedEndsTheRun(int threads) throws InterruptedException {
        try (Executor executor = Executor.builder().threads(threads).eager().build()) {
            Plan plan = executor.compile(branches(1, Probes.CALL), feeds("x"), fetches("sum"));
            CountDownLatch waits = new CountDownLatch(1);
            CountDownLatch never = new CountDownLatch(1);
            AtomicReference<Thread> where = new AtomicReference<>();
            Probes.on("p0", _ -> {
                where.set(Thread.currentThread());
                waits.countDown();
                never.await();
            });
            AtomicReference<Throwable> thrown = new AtomicReference<>();
            AtomicInteger kept = new AtomicInteger(-1);
            Thread runner = Thread.ofPlatform().start(() -> {
                try {
                    plan.run(Bits.floats(1));
                } catch (RuntimeException | Error e) {
                    thrown.set(e);
                }
                kept.set(Thread.currentThread().isInterrupted() ? 1 : 0);
            });
            waits.await();
            Thread inside = Objects.requireNonNull(where.get());
            inside.interrupt();
            runner.join();
            ProgramFailedException failure = assertInstanceOf(ProgramFailedException.class, thrown.get());
            assertInstanceOf(InterruptedException.class, failure.getCause());
            assertTrue(message(failure).toLowerCase(Locale.ROOT).contains("interrupt"), message(failure));
            if (inside.equals(runner)) {
                assertEquals(1, kept.get(), "the thread is still interrupted");
            }
            Probes.allOff();
            assertEquals(1, plan.run(Bits.floats(1)).scalar("sum"), "the next run works");
        }
    }

    /** Runs a loop that would never end. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void anEndlessLoopEndsWhenItsThreadIsInterrupted(int threads) throws InterruptedException {
        Network network = Network.define(g -> {
            Value x = g.data("x", FLOAT32, 1);
            Value stop = g.data("stop", INT64, 1);
            List<Value> loop = g.whileLoop(v -> List.of(v.getFirst().lessThan(stop)),
                    v -> List.of(v.getFirst().plus(1),
                            g.op(Probes.CALL).in("X", v.get(1)).attr("key", "endless").one("Out")),
                    g.full(INT64, 0, 1), x.assign());
            return Outputs.of("i", loop.getFirst());
        });
        String i = network.outputs().get("i").name();
        try (Executor executor = Executor.builder().threads(threads).eager().build()) {
            Plan plan = executor.compile(network.main(), feeds("x", "stop"), fetches(i));
            AtomicReference<Throwable> thrown = new AtomicReference<>();
            AtomicInteger kept = new AtomicInteger(-1);
            AtomicInteger steps = new AtomicInteger();
            AtomicLong interrupted = new AtomicLong(System.nanoTime());
            Thread runner = Thread.ofPlatform().unstarted(() -> {
                try {
                    plan.run(Bits.floats(1), Bits.longs(Long.MAX_VALUE));
                } catch (RuntimeException | Error e) {
                    thrown.set(e);
                }
                kept.set(Thread.currentThread().isInterrupted() ? 1 : 0);
            });
            Probes.on("endless", _ -> {
                if (steps.incrementAndGet() == 3) {
                    interrupted.set(System.nanoTime());
                    runner.interrupt();
                }
                // The runner needs a processor to notice: how many iterations another thread makes until then is open.
                if (System.nanoTime() - interrupted.get() > TimeUnit.MINUTES.toNanos(1)) {
                    throw new IllegalStateException("no one has noticed the interruption");
                }
            });
            runner.start();
            runner.join();
            assertTrue(String.valueOf(thrown.get()).toLowerCase(Locale.ROOT).contains("interrupt")
                    && !String.valueOf(thrown.get()).contains("no one"), () -> "a clear error: " + thrown.get());
            assertEquals(1, kept.get(), "the thread is still interrupted");
            Probes.allOff();
            assertEquals(5, plan.run(Bits.floats(1), Bits.longs(5)).scalar(i), "the next run works");
        }
    }

    /** The run may be refused or complete; in both cases the thread stays interrupted. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void aThreadThatIsInterruptedBeforeStaysSo(int threads) {
        try (Executor executor = Executor.builder().threads(threads).eager().build()) {
            Plan plan = executor.compile(branches(3, Probes.CALL), feeds("x"), fetches("sum"));
            Thread.currentThread().interrupt();
            Throwable thrown = null;
            double sum = Double.NaN;
            try {
                sum = plan.run(Bits.floats(1)).scalar("sum");
            } catch (RuntimeException e) {
                thrown = e;
            }
            assertTrue(Thread.interrupted(), "the thread is still interrupted");
            assertTrue(sum == 3 || String.valueOf(thrown).toLowerCase(Locale.ROOT).contains("interrupt"),
                    "a clear error: " + thrown);
            assertEquals(3, plan.run(Bits.floats(1)).scalar("sum"), "the next run works");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void wrongFeedsLeaveEverythingAsItWas(int threads) {
        Program program = new Program();
        program.global().put(new VarDesc("x", VarType.dense(FLOAT32, -1, 2), null, true, null, true))
                .put(VarDesc.of("w", VarType.dense(FLOAT32, -1, 2)).persistent())
                .add(OpDesc.of("elementwise_add").in("X", "w").in("Y", "x").out("Out", "w").attr("axis", -1).build());
        try (Executor executor = Executor.builder().threads(threads).eager().build()) {
            executor.scope().set("w", Bits.normal(1, 3, 2));
            Plan plan = executor.compile(program, feeds("x"), fetches("w"));
            assertThrows(IllegalArgumentException.class, () -> plan.run(Bits.normal(2, 3, 3)),
                    "another shape than declared");
            assertThrows(IllegalArgumentException.class, () -> plan.run(Bits.longs(1, 2)), "another type");
            assertThrows(IllegalArgumentException.class, plan::run, "none");
            RuntimeException unfit = assertThrows(RuntimeException.class, () -> plan.run(Bits.normal(2, 5, 2)),
                    "one that does not fit w");
            assertTrue(
                    message(unfit).contains("elementwise_add") && message(unfit).contains("[5, 2]")
                            && message(unfit).contains("[3, 2]"),
                    message(unfit));
            Bits.assertSame(Bits.normal(1, 3, 2), executor.scope().get("w"), "w");
            float[] sum = plan.run(Bits.normal(1, 3, 2)).get("w").toFloatArray();
            float[] twice = Bits.normal(1, 3, 2).toFloatArray();
            for (int i = 0; i < twice.length; i++) {
                twice[i] *= 2;
            }
            assertArrayEquals(twice, sum, "the next run works");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void anOperationTypeThatDoesNotExistIsNamed(int threads) {
        Program program = new Program();
        program.global().put(VarDesc.of("x", VarType.dense(FLOAT32, 1))).put(VarDesc.of("y", VarType.dense(FLOAT32, 1)))
                .add(OpDesc.of("no_such_operation").in("X", "x").out("Out", "y").build());
        try (Executor executor = Executor.builder().threads(threads).eager().build()) {
            RuntimeException thrown = assertThrows(RuntimeException.class,
                    () -> executor.compile(program, feeds("x"), fetches("y")).run(Bits.floats(1)));
            assertTrue(message(thrown).contains("'no_such_operation'"), message(thrown));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void aVariableThatIsNotInTheScopeIsNamed(int threads) {
        Network network = Network.define(1, g -> Outputs.of("y", g.linear(g.data("x", FLOAT32, -1, 4), 2)));
        String y = network.outputs().get("y").name();
        try (Executor executor = Executor.builder().threads(threads).eager().build()) {
            Plan plan = executor.compile(network.main(), feeds("x"), fetches(y));
            RuntimeException thrown = assertThrows(RuntimeException.class, () -> plan.run(Bits.normal(1, 2, 4)));
            assertTrue(message(thrown).contains("'linear_0.w_0'") && message(thrown).contains("startup"),
                    message(thrown));
            executor.run(network.startup());
            assertArrayEquals(new long[]{2, 2}, plan.run(Bits.normal(1, 2, 4)).get(y).shape().dims(),
                    "the same plan, after the startup program");
        }
    }
}
