package io.seriatim.executor.ir;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.seriatim.executor.Bits;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Weights are packed once for all threads that request them, and without a lock. */
@Timeout(60)
class PackedWeightsTest {
    private static final TensorSpec SPEC = TensorSpec.of(DType.FLOAT32, 4);

    private final PackedWeights weights = new PackedWeights();
    private final Tensor variable = Bits.floats(1, 2, 3, 4);
    private final AtomicInteger packed = new AtomicInteger();

    private static PackedWeights.Form form(long offset) {
        return new PackedWeights.Form(offset, SPEC, SPEC);
    }

    /** Runs an action of the test, then packs by copying. */
    private Kernel after(Runnable first) {
        return new Kernel() {
            @Override
            public void run(@Nullable Tensor[] arguments, KernelContext context) {
                first.run();
                packed.incrementAndGet();
                Copies.onHost(Objects.requireNonNull(arguments[0]), Objects.requireNonNull(arguments[1]));
            }

            @Override
            public String provider() {
                return "test";
            }
        };
    }

    private PackedWeights.Entry get(PackedWeights.Form form, Kernel kernel) {
        return Objects.requireNonNull(weights.get("w", variable, form, kernel));
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * Returns forms in the same bin of a hash table, to detect a table that packs while it holds the lock of the bin.
     */
    private static PackedWeights.Form inOneBin(PackedWeights.Form form) {
        for (long offset = 1;; offset++) {
            PackedWeights.Form other = form(offset * Float.BYTES);
            if (other.hashCode() == form.hashCode() || bin(other) == bin(form)) {
                return other;
            }
        }
    }

    private static int bin(PackedWeights.Form form) {
        return (form.hashCode() ^ form.hashCode() >>> 16) & 15;
    }

    @Test
    void packingMayPackAnotherForm() {
        PackedWeights.Form outer = form(0);
        Tensor larger = Bits.floats(new double[4096]);
        PackedWeights.Form inner = inOneBin(outer);
        Kernel nested = after(() -> assertNotNull(weights.get("w", larger, inner, after(() -> {
        }))));
        assertNotNull(weights.get("w", larger, outer, nested));
        assertEquals(2, packed.get());
    }

    /** While one thread packs a form, another thread packs a second form in the same bin. */
    @Test
    void otherFormsArePackedMeanwhile() throws Exception {
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch released = new CountDownLatch(1);
        Tensor larger = Bits.floats(new double[4096]);
        FutureTask<PackedWeights.@Nullable Entry> slow = new FutureTask<>(
                () -> weights.get("w", larger, form(0), after(() -> {
                    started.countDown();
                    awaitQuietly(released);
                })));
        Thread.ofPlatform().start(slow);
        started.await();
        assertNotNull(weights.get("w", larger, inOneBin(form(0)), after(() -> {
        })));
        assertEquals(1, packed.get());
        released.countDown();
        assertNotNull(slow.get());
    }

    @Test
    void threadsThatWantTheSameShareIt() throws Exception {
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch released = new CountDownLatch(1);
        Kernel slow = after(() -> {
            started.countDown();
            awaitQuietly(released);
        });
        FutureTask<PackedWeights.Entry> first = new FutureTask<>(() -> get(form(0), slow));
        Thread.ofPlatform().start(first);
        started.await();
        FutureTask<PackedWeights.Entry> second = new FutureTask<>(() -> get(form(0), slow));
        Thread thread = Thread.ofPlatform().start(second);
        while (thread.getState() != Thread.State.WAITING && !second.isDone()) {
            Thread.onSpinWait();
        }
        released.countDown();
        assertSame(first.get(), second.get());
        assertEquals(1, packed.get());
        // Each of the two is a user: the memory is freed with the second one.
        weights.release("w", form(0), first.get());
        assertSame(first.get(), get(form(0), slow));
        weights.release("w", form(0), first.get());
        weights.release("w", form(0), first.get());
        assertNotNull(get(form(0), slow));
        assertEquals(2, packed.get());
    }

    @Test
    void aWaitForAnotherThreadsPackingCanBeInterrupted() throws Exception {
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch released = new CountDownLatch(1);
        Kernel slow = after(() -> {
            started.countDown();
            awaitQuietly(released);
        });
        FutureTask<PackedWeights.Entry> first = new FutureTask<>(() -> get(form(0), slow));
        Thread.ofPlatform().start(first);
        started.await();
        FutureTask<PackedWeights.Entry> second = new FutureTask<>(() -> get(form(0), slow));
        Thread thread = Thread.ofPlatform().start(second);
        thread.interrupt();
        assertInstanceOf(RunFailure.class, assertThrows(ExecutionException.class, second::get).getCause());
        released.countDown();
        assertNotNull(first.get());
    }

    @Test
    void aFailureIsKeptForNoOne() {
        assertThrows(IllegalStateException.class, () -> get(form(0), after(() -> {
            throw new IllegalStateException("no memory, say");
        })));
        assertNotNull(get(form(0), after(() -> {
        })));
        assertEquals(1, packed.get());
    }
}
