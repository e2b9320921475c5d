package io.seriatim.tensor.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Place;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Fill;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.internal.ffi.Dnnl;
import io.seriatim.tensor.onednn.OneDnn;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

class PreparedKernelsTest {
    private final Map<Computation, Integer> made = new ConcurrentHashMap<>();
    private final PreparedKernels kernels = new PreparedKernels(counting(), 100);

    private Kernels counting() {
        Kernels portable = Kernels.portable();
        return new Kernels().register("counting", "cpu", "unary", Unary.class, List.of(DType.FLOAT32),
                (computation, arguments) -> {
                    made.merge(computation, 1, Integer::sum);
                    if (computation.alpha() < 0) {
                        throw new IllegalStateException("no kernel for " + computation.alpha());
                    }
                    return portable.prepare(computation, Place.CPU, arguments);
                });
    }

    private static PreparedKernels.Request request(Computation computation) {
        TensorSpec spec = TensorSpec.of(DType.FLOAT32, 4);
        return new PreparedKernels.Request(computation, Place.CPU, List.of(spec, spec));
    }

    private Kernel get(PreparedKernels.Request request) {
        return kernels.get(request.computation(), request.place(), request.arguments().toArray(TensorSpec[]::new));
    }

    private static Unary linear(double alpha) {
        return new Unary(Unary.Function.LINEAR, (float) alpha, 0);
    }

    @Test
    void eachIsMadeOnceHoweverOftenItIsAskedFor() {
        List<PreparedKernels.Request> requests = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            requests.add(request(linear(i % 20)));
        }
        kernels.makeAhead(requests);
        assertEquals(20, made.size());
        for (PreparedKernels.Request request : requests) {
            assertSame(get(request), get(request));
        }
        kernels.makeAhead(requests);
        assertTrue(made.values().stream().allMatch(count -> count == 1), made::toString);
    }

    @Test
    void whatCannotBeMadeIsToldOfWhenItIsNeeded() {
        List<PreparedKernels.Request> requests = new ArrayList<>(List.of(request(linear(1)), request(linear(-1)),
                request(new Fill(1)), request(linear(2))));
        // Few kernels are not made ahead.
        for (int i = 3; i < 30; i++) {
            requests.add(request(linear(i)));
        }
        kernels.makeAhead(requests);
        assertEquals(1, made.get(linear(2)));
        assertEquals(1, made.get(linear(-1)));
        IllegalStateException failed = assertThrows(IllegalStateException.class, () -> get(requests.get(1)));
        assertEquals("no kernel for -1.0", failed.getMessage());
        assertThrows(NoKernelException.class, () -> get(requests.get(2)));
        assertEquals(1, made.get(linear(1)));
    }

    @Test
    void allThatAreAskedForTogetherAreFoundInTheirOrder() {
        for (int count : new int[]{3, 40}) {
            List<PreparedKernels.Request> requests = new ArrayList<>(List.of(request(linear(-1)),
                    request(new Fill(1))));
            for (int i = 0; i < count; i++) {
                requests.add(request(linear(i % 20)));
            }
            List<@Nullable Kernel> found = kernels.findAll(requests);
            assertEquals(requests.size(), found.size());
            assertNull(found.get(0));
            assertNull(found.get(1));
            for (int i = 2; i < requests.size(); i++) {
                assertSame(get(requests.get(i)), found.get(i));
            }
        }
        made.forEach((computation, count) -> assertEquals(computation.equals(linear(-1)) ? 2 : 1, count));
    }

    /** A kernel that is said to hold memory off the heap until it is released. */
    private static final class Sized implements Kernel {
        private final long size;
        private int releases;
        private boolean held = true;

        Sized(long size) {
            this.size = size;
        }

        @Override
        public void run(@Nullable Tensor[] arguments, KernelContext context) {
            held = true;
        }

        @Override
        public String provider() {
            return "sized";
        }

        @Override
        public long bytes() {
            return held ? size : 0;
        }

        @Override
        public void release() {
            releases++;
            held = false;
        }
    }

    private static PreparedKernels ofBytes(long bytes) {
        return new PreparedKernels(new Kernels().register("sized", "cpu", "unary", Unary.class, List.of(DType.FLOAT32),
                (_, _) -> new Sized(10)), 1000, bytes);
    }

    private static Sized sized(PreparedKernels from, int which) {
        TensorSpec spec = TensorSpec.of(DType.FLOAT32, 4);
        return (Sized) from.get(linear(which), Place.CPU, spec, spec);
    }

    @Test
    void theLeastRecentlyUsedAreReleasedAtOnceBeyondTheBytesThatFit() {
        PreparedKernels bounded = ofBytes(35);
        Sized first = sized(bounded, 0);
        Sized second = sized(bounded, 1);
        sized(bounded, 2);
        assertSame(first, sized(bounded, 0));
        sized(bounded, 3);
        assertEquals(1, second.releases, "the least recently used");
        assertEquals(0, first.releases);
        for (int i = 4; i < 100; i++) {
            sized(bounded, i);
            assertTrue(bounded.bytes() <= 35, () -> bounded.bytes() + " bytes are kept");
        }
        assertEquals(1, first.releases);
    }

    @Test
    void whatIsHeldStaysUntilTheLastHoldEnds() {
        PreparedKernels bounded = ofBytes(35);
        Sized held = sized(bounded, 0);
        PreparedKernels.Hold one = bounded.hold(List.of(held, held));
        PreparedKernels.Hold other = bounded.hold(List.of(held));
        for (int i = 1; i < 50; i++) {
            sized(bounded, i);
        }
        assertSame(held, sized(bounded, 0));
        assertEquals(30, bounded.idleBytes(), "what is held does not count");
        one.close();
        one.close();
        assertEquals(0, held.releases);
        other.close();
        assertTrue(bounded.bytes() <= 35, () -> bounded.bytes() + " bytes are kept");
        for (int i = 50; i < 60; i++) {
            sized(bounded, i);
        }
        assertEquals(1, held.releases);
    }

    @Test
    void aKernelThatWentBeforeItWasHeldIsReleasedWithItsHold() {
        PreparedKernels bounded = ofBytes(15);
        Sized gone = sized(bounded, 0);
        sized(bounded, 1);
        assertEquals(1, gone.releases);
        gone.run(new Tensor[0], KernelContext.current());
        PreparedKernels.Hold hold = bounded.hold(List.of(gone));
        assertEquals(20, bounded.bytes());
        hold.close();
        assertEquals(2, gone.releases);
        assertEquals(10, bounded.bytes());
    }

    @Test
    void whilePlansAreMadeMoreIsKept() {
        PreparedKernels bounded = ofBytes(35);
        try (PreparedKernels.Hold _ = bounded.postponed()) {
            for (int i = 0; i < 14; i++) {
                sized(bounded, i);
            }
            assertEquals(140, bounded.bytes());
            sized(bounded, 14);
            assertEquals(140, bounded.bytes(), "four times as much");
        }
        assertEquals(30, bounded.bytes());
    }

    /** Released memory is made again by the next run. */
    @Test
    void aKernelOfOneDnnWithoutMemoryGivesWhatItGave() {
        Assumptions.assumeTrue(OneDnn.status().loaded(), "oneDNN is not loaded");
        float[] numbers = new float[64 * 64];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = i % 7 - 3;
        }
        Tensor x = Tensor.of(numbers, 64, 64);
        Tensor product = Tensor.allocate(DType.FLOAT32, 64, 64);
        try (Kernel kernel = Kernels.system().prepare(MatMul.PLAIN, Place.CPU, x.spec(), x.spec(), product.spec())) {
            assertEquals(0, kernel.bytes(), "before it is loaded");
            assertTrue(kernel.loadedBytes() > 0, kernel::provider);
            kernel.run(new Tensor[]{x, x, product}, KernelContext.current());
            assertTrue(kernel.bytes() > 0, kernel::provider);
            float[] expected = product.toFloatArray();
            for (int i = 0; i < 3; i++) {
                kernel.release();
                assertEquals(0, kernel.bytes());
                product.buffer().segment().fill((byte) 0);
                kernel.run(new Tensor[]{x, x, product}, KernelContext.current());
                assertTrue(kernel.bytes() > 0);
                assertArrayEquals(expected, product.toFloatArray());
            }
        }
    }

    @Test
    void releasingAKernelThatRunsDisturbsNoRun() throws InterruptedException {
        Assumptions.assumeTrue(OneDnn.status().loaded(), "oneDNN is not loaded");
        Tensor x = Tensor.of(new float[]{1, 2, 3, 4}, 2, 2);
        Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
        try (Kernel kernel = Kernels.system().prepare(MatMul.PLAIN, Place.CPU, x.spec(), x.spec(), x.spec())) {
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                threads.add(Thread.ofPlatform().start(() -> {
                    try {
                        Tensor y = Tensor.allocate(DType.FLOAT32, 2, 2);
                        for (int run = 0; run < 2_000; run++) {
                            kernel.run(new Tensor[]{x, x, y}, KernelContext.current());
                            assertArrayEquals(new float[]{7, 10, 15, 22}, y.toFloatArray());
                        }
                    } catch (Throwable e) {
                        failures.add(e);
                    }
                }));
            }
            for (int i = 0; i < 200; i++) {
                kernel.release();
            }
            for (Thread thread : threads) {
                thread.join();
            }
        }
        assertEquals(List.of(), List.copyOf(failures));
    }

    @Test
    void theLibraryKeepsNothingOfItsOwn() {
        Assumptions.assumeTrue(OneDnn.status().loaded(), "oneDNN is not loaded");
        assertEquals(0, Dnnl.require().primitiveCacheCapacity());
    }
}
