package io.seriatim.tensor.kernel.portable;

import static org.junit.jupiter.api.Assertions.assertNull;

import io.seriatim.device.Buffer;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import java.lang.ref.PhantomReference;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What all kernels in plain Java have in common. */
class PortableKernelTest {
    /** Compiled code no longer holds a tensor that it has only a segment of. */
    @Test
    void memoryOfArgumentsIsKeptUntilTheKernelReturns() {
        ReferenceQueue<Buffer> collected = new ReferenceQueue<>();
        AtomicInteger collections = new AtomicInteger();
        AtomicReference<@Nullable Reference<?>> seen = new AtomicReference<>();
        Kernel kernel = PortableKernel.of((PortableKernel.Body) (_, _) -> {
            try {
                while (seen.get() == null && collections.get() > 0) {
                    collections.decrementAndGet();
                    System.gc();
                    seen.set(collected.remove(5));
                }
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        @Nullable
        Tensor[][] place = {{Tensor.of(new float[]{1})}};
        for (int i = 0; i < 100_000; i++) {
            @Nullable
            Tensor[] arguments = place[0];
            runLast(kernel, place);
            place[0] = arguments;
        }
        PhantomReference<Buffer> reference = new PhantomReference<>(Objects.requireNonNull(place[0][0]).buffer(),
                collected);
        collections.set(20);
        try {
            runLast(kernel, place);
        } finally {
            Reference.reachabilityFence(reference);
        }
        assertNull(seen.get(), "memory was collected while a kernel read it");
    }

    /** Leaves the arguments to the kernel. */
    private static void runLast(Kernel kernel, @Nullable Tensor[][] place) {
        kernel.run(taken(place), KernelContext.current());
    }

    private static @Nullable Tensor[] taken(@Nullable Tensor[][] place) {
        @Nullable
        Tensor[] arguments = place[0];
        place[0] = new Tensor[0];
        return arguments;
    }
}
