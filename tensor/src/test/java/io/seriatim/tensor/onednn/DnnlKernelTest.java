package io.seriatim.tensor.onednn;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.internal.ffi.Dnnl;
import io.seriatim.tensor.internal.ffi.DnnlConstants;
import io.seriatim.tensor.internal.ffi.MemoryDescriptor;
import io.seriatim.tensor.internal.ffi.NativePlatform;
import io.seriatim.tensor.kernel.KernelContext;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.ref.PhantomReference;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * A kernel of the library is not released under its runs, and its primitives use as many threads as they were made for.
 */
class DnnlKernelTest {
    private static final int SIZE = 64;

    @BeforeAll
    static void needsTheLibrary() {
        assumeTrue(OneDnn.status().loaded(), () -> "oneDNN is not there: " + OneDnn.status().problem());
    }

    /** Copies by two primitives; between them something in Java. */
    private static DnnlKernel copying(Runnable between) {
        Dnnl dnnl = Objects.requireNonNull(Dnnl.get());
        return Objects.requireNonNull(DnnlKernel.of(dnnl, builder -> {
            MemoryDescriptor row = builder.describe(new long[]{SIZE}, DType.FLOAT32, new long[]{1});
            Operand inside = builder.temporary(DnnlConstants.DST, row);
            builder.copy(new Operand(DnnlConstants.SRC, 0, row), inside);
            builder.action((_, _) -> between.run());
            builder.copy(new Operand(DnnlConstants.SRC, inside.slot(), row), new Operand(DnnlConstants.DST, 1, row));
            return true;
        }));
    }

    private static Tensor numbers() {
        float[] values = new float[SIZE];
        for (int i = 0; i < values.length; i++) {
            values[i] = i + 1;
        }
        return Tensor.of(values);
    }

    @Test
    void aKernelThatIsClosedDuringARunIsReleasedAfterIt() throws InterruptedException {
        AtomicReference<DnnlKernel> kernel = new AtomicReference<>();
        CountDownLatch inside = new CountDownLatch(2);
        CountDownLatch closed = new CountDownLatch(1);
        kernel.set(copying(() -> {
            inside.countDown();
            try {
                closed.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }));
        List<float[]> results = new ArrayList<>();
        List<Thread> running = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            running.add(Thread.ofPlatform().start(() -> {
                Tensor y = Tensor.allocate(DType.FLOAT32, SIZE);
                kernel.get().run(new Tensor[]{numbers(), y}, KernelContext.current());
                synchronized (results) {
                    results.add(y.toFloatArray());
                }
            }));
        }
        inside.await();
        kernel.get().close();
        closed.countDown();
        for (Thread thread : running) {
            thread.join();
        }
        assertEquals(2, results.size());
        for (float[] result : results) {
            assertArrayEquals(numbers().toFloatArray(), result);
        }
        Tensor[] more = {numbers(), numbers()};
        for (int threads = 1; threads <= 2; threads++) {
            try (KernelContext context = new KernelContext(threads)) {
                IllegalStateException e = assertThrows(IllegalStateException.class,
                        () -> kernel.get().run(more, context));
                assertEquals("The kernel is closed: prepare it again", e.getMessage());
            }
        }
        kernel.get().close();
    }

    /**
     * Compiled code no longer holds what it does not use again, so that the collector may take a kernel whose native
     * code runs.
     */
    @Test
    void aKernelIsNotCollectedDuringItsRun() {
        ReferenceQueue<DnnlKernel> collected = new ReferenceQueue<>();
        AtomicInteger collections = new AtomicInteger();
        AtomicReference<@Nullable Reference<?>> seen = new AtomicReference<>();
        Runnable between = () -> {
            try {
                while (seen.get() == null && collections.get() > 0) {
                    collections.decrementAndGet();
                    System.gc();
                    seen.set(collected.remove(5));
                }
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        };
        KernelContext context = new KernelContext(1);
        try (context; DnnlKernel warm = copying(between)) {
            Tensor[] tensors = {numbers(), numbers()};
            for (int i = 0; i < 30_000; i++) {
                warm.run(tensors, context);
            }
            AtomicReference<@Nullable DnnlKernel> last = new AtomicReference<>(copying(between));
            PhantomReference<DnnlKernel> reference = new PhantomReference<>(Objects.requireNonNull(last.get()),
                    collected);
            Objects.requireNonNull(last.get()).load();
            collections.set(20);
            try {
                runLast(last, tensors, context);
            } finally {
                Reference.reachabilityFence(reference);
            }
        }
        assertNull(seen.get(), "a kernel that runs was collected");
    }

    /** Leaves the kernel to its run. */
    private static void runLast(AtomicReference<@Nullable DnnlKernel> last, Tensor[] tensors, KernelContext context) {
        Objects.requireNonNull(last.getAndSet(null)).run(tensors, context);
    }

    /** OpenMP keeps its number of threads with the carrier, which a virtual thread shares with others and changes. */
    @Test
    // A yield lets another virtual thread have the carrier; nothing relies on it.
    @SuppressWarnings("ThreadPriorityCheck")
    void onVirtualThreadsPrimitivesUseTheThreadsOfTheirContext() throws Throwable {
        MethodHandle most = openMpThreads();
        List<Integer> counts = List.of(1, 2, 3);
        AtomicInteger wrong = new AtomicInteger();
        AtomicInteger runs = new AtomicInteger();
        ThreadLocal<Integer> expected = new ThreadLocal<>();
        try (DnnlKernel kernel = copying(() -> {
            runs.incrementAndGet();
            wrong.addAndGet(threads(most) == expected.get() ? 0 : 1);
        })) {
            List<Thread> threads = new ArrayList<>();
            List<Throwable> failures = new ArrayList<>();
            for (int t = 0; t < 9; t++) {
                int count = counts.get(t % counts.size());
                threads.add(Thread.ofVirtual().uncaughtExceptionHandler((_, e) -> {
                    synchronized (failures) {
                        failures.add(e);
                    }
                }).start(() -> {
                    expected.set(count);
                    Tensor[] tensors = {numbers(), numbers()};
                    try (KernelContext context = new KernelContext(count)) {
                        for (int i = 0; i < 40; i++) {
                            kernel.run(tensors, context);
                            Thread.yield();
                        }
                    }
                }));
            }
            for (Thread thread : threads) {
                thread.join();
            }
            assertTrue(failures.isEmpty(), failures::toString);
        }
        assertEquals(360, runs.get());
        assertEquals(0, wrong.get(), () -> "of " + runs + " runs");
    }

    /**
     * What is made on a virtual thread is made for its own number of threads too, whatever others do on its carrier
     * meanwhile.
     */
    @Test
    @SuppressWarnings("ThreadPriorityCheck") // As above.
    void onVirtualThreadsPrimitivesAreMadeForTheThreadsOfTheirContext() throws Throwable {
        MethodHandle most = openMpThreads();
        Dnnl dnnl = Objects.requireNonNull(Dnnl.get());
        AtomicInteger wrong = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 6; t++) {
            int count = 1 + t % 3;
            threads.add(Thread.ofVirtual().start(() -> {
                for (int i = 0; i < 20; i++) {
                    wrong.addAndGet(ThreadCount.with(dnnl, count, () -> {
                        // As where a lock is held by another thread.
                        Thread.yield();
                        return threads(most) == count ? 0 : 1;
                    }));
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertEquals(0, wrong.get());
    }

    private static int threads(MethodHandle most) {
        try {
            return (int) most.invokeExact();
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    @SuppressWarnings("restricted")
    private static MethodHandle openMpThreads() {
        NativePlatform platform = Objects.requireNonNull(NativePlatform.current());
        String name = platform.openMp();
        assumeTrue(name != null, "the system's OpenMP is not looked up here");
        SymbolLookup openMp = SymbolLookup.libraryLookup(
                Objects.requireNonNull(Dnnl.folder()).resolve(Objects.requireNonNull(name)),
                Arena.global());
        return Linker.nativeLinker().downcallHandle(openMp.findOrThrow("omp_get_max_threads"),
                FunctionDescriptor.of(ValueLayout.JAVA_INT));
    }
}
