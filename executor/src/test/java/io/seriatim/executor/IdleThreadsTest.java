package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static io.seriatim.tensor.DType.FLOAT32;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Idle threads of a run use no processor time, and return when a task becomes ready. */
@Timeout(60)
class IdleThreadsTest {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final long SETTLE_NANOS = 30_000_000;
    private static final long LOOK_NANOS = 300_000_000;
    /** The maximum share of a processor. Threads that poll every 20 µs use ten times as much. */
    private static final double MOST = 0.02;
    private static final int BRANCHES = 3;

    @AfterEach
    void noHooks() {
        Probes.allOff();
    }

    /** Returns a program of a probe {@code first}, followed by independent probes p0, p1, … and their sum. */
    private static Program fan() {
        Program program = new Program();
        program.global().put(VarDesc.of("x", VarType.dense(FLOAT32, -1)))
                .put(VarDesc.of("y", VarType.dense(FLOAT32, -1)))
                .put(VarDesc.of("sum", VarType.dense(FLOAT32, -1)))
                .add(OpDesc.of(Probes.CALL).in("X", "x").out("Out", "y").attr("key", "first").build());
        String[] names = new String[BRANCHES];
        for (int i = 0; i < BRANCHES; i++) {
            names[i] = "y" + i;
            program.global().put(VarDesc.of(names[i], VarType.dense(FLOAT32, -1)))
                    .add(OpDesc.of(Probes.CALL).in("X", "y").out("Out", names[i]).attr("key", "p" + i).build());
        }
        program.global().add(OpDesc.of("sum").in("X", names).out("Out", "sum").build());
        return program;
    }

    private static List<Thread> helpers() {
        return Thread.getAllStackTraces().keySet().stream().filter(thread -> thread.getName().startsWith("executor-"))
                .toList();
    }

    private static long used(List<Thread> threads) {
        return threads.stream().mapToLong(thread -> Math.max(0, THREADS.getThreadCpuTime(thread.threadId()))).sum();
    }

    private static void rest(long nanos) {
        long end = System.nanoTime() + nanos;
        while (System.nanoTime() - end < 0) {
            LockSupport.parkNanos(nanos);
        }
    }

    /** Returns the share of a processor that the threads of a run use after some time. */
    private static double share(Thread caller) {
        rest(SETTLE_NANOS);
        List<Thread> threads = new ArrayList<>(helpers());
        threads.add(caller);
        long began = System.nanoTime();
        long before = used(threads);
        rest(LOOK_NANOS);
        return (used(threads) - before) / (double) (System.nanoTime() - began);
    }

    @Test
    void aRunWhoseOnlyTaskSleeps() throws Exception {
        CountDownLatch open = new CountDownLatch(1);
        CountDownLatch sleeps = new CountDownLatch(1);
        Probes.on("first", _ -> {
            sleeps.countDown();
            open.await();
        });
        try (Executor executor = Executor.builder().threads(4).eager().build()) {
            Plan plan = executor.compile(fan(), feeds("x"), fetches("sum"));
            CompletableFuture<Double> result = new CompletableFuture<>();
            Thread caller = Thread.ofPlatform().start(() -> result.complete(plan.run(Bits.floats(1)).scalar("sum")));
            sleeps.await();
            double share = share(caller);
            open.countDown();
            assertEquals(BRANCHES, result.get(30, TimeUnit.SECONDS));
            assertTrue(share < MOST, () -> "used " + share + " of a processor");
        }
    }

    @Test
    void aRunThatHasFailedWhileATaskSleeps() throws Exception {
        CountDownLatch open = new CountDownLatch(1);
        CountDownLatch sleeps = new CountDownLatch(1);
        Probes.on("p0", _ -> {
            sleeps.countDown();
            open.await();
        });
        Probes.on("p1", _ -> {
            sleeps.await();
            throw new IllegalStateException("planted");
        });
        try (Executor executor = Executor.builder().threads(4).eager().build()) {
            Plan plan = executor.compile(fan(), feeds("x"), fetches("sum"));
            CompletableFuture<Throwable> result = new CompletableFuture<>();
            Thread caller = Thread.ofPlatform()
                    .start(() -> result
                            .complete(assertThrows(ProgramFailedException.class, () -> plan.run(Bits.floats(1)))));
            sleeps.await();
            double share = share(caller);
            caller.interrupt();
            double interrupted = share(caller);
            open.countDown();
            assertTrue(String.valueOf(result.get(30, TimeUnit.SECONDS)).contains("planted"), result::toString);
            assertTrue(share < MOST && interrupted < MOST,
                    () -> "used " + share + ", interrupted " + interrupted + " of a processor");
        }
    }

    /** Helpers that have left return for tasks that become ready, all of which must run at once. */
    @Test
    void threadsThatHaveGoneComeBack() throws Exception {
        Probes.on("first", _ -> {
            Thread me = Thread.currentThread();
            while (helpers().stream()
                    .anyMatch(thread -> !thread.equals(me) && thread.getState() == Thread.State.RUNNABLE)) {
                LockSupport.parkNanos(100_000);
            }
        });
        try (Executor executor = Executor.builder().threads(BRANCHES).eager().build()) {
            Plan plan = executor.compile(fan(), feeds("x"), fetches("sum"));
            for (int run = 0; run < 10; run++) {
                Meeting all = new Meeting(BRANCHES);
                for (int i = 0; i < BRANCHES; i++) {
                    Probes.on("p" + i, _ -> all.await());
                }
                assertEquals(BRANCHES, plan.run(Bits.floats(1)).scalar("sum"));
                assertEquals(1, all.held());
            }
        }
    }
}
