package io.seriatim.tensor;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.seriatim.device.Place;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.Kernels;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The kernels that arrays have used, the least recently used first to go. One that goes may still be running: it releases what it holds when no one can reach it. */
final class KernelCache {
    static final KernelCache INSTANCE = new KernelCache(4096);

    private final int capacity;
    @GuardedBy("this")
    private final Map<Key, Kernel> kernels;

    private record Key(Computation computation, String kind, List<@Nullable TensorSpec> arguments) {
    }

    KernelCache(int capacity) {
        this.capacity = capacity;
        kernels = new LinkedHashMap<>(64, 0.75f, true) {
            private static final long serialVersionUID = 1;

            @Override
            protected boolean removeEldestEntry(Map.Entry<Key, Kernel> eldest) {
                return size() > KernelCache.this.capacity;
            }
        };
    }

    Kernel get(Computation computation, Place place, @Nullable TensorSpec... arguments) {
        Key key = new Key(computation, place.kind(), Arrays.asList(arguments));
        synchronized (this) {
            Kernel kernel = kernels.get(key);
            if (kernel != null) {
                return kernel;
            }
        }
        // Made outside of the lock, since it takes milliseconds: two threads may make the same one.
        Kernel made = Kernels.system().prepare(computation, place, arguments);
        synchronized (this) {
            kernels.put(key, made);
        }
        return made;
    }
}
