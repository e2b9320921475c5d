package io.seriatim.tensor.kernel;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.seriatim.device.Place;
import io.seriatim.tensor.TensorSpec;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Kernels by what they compute and for which operands, so that each is made once; the least recently used goes first. One that goes may still be running: it releases what it holds when no one can reach
 * it. For many threads.
 */
public final class PreparedKernels {
    private static final PreparedKernels SYSTEM = new PreparedKernels(Kernels.system(), 4096);

    private final Kernels kernels;
    private final int capacity;
    @GuardedBy("this")
    private final Map<Key, Kernel> prepared;

    private record Key(Computation computation, String kind, List<@Nullable TensorSpec> arguments) {
    }

    /**
     * Empty.
     *
     * @param kernels
     *            those that there are
     * @param capacity
     *            how many are kept, from 1
     */
    public PreparedKernels(Kernels kernels, int capacity) {
        if (capacity < 1) {
            throw new IllegalArgumentException("At least one kernel must be kept, but the capacity is " + capacity);
        }
        this.kernels = kernels;
        this.capacity = capacity;
        this.prepared = new LinkedHashMap<>(64, 0.75f, true) {
            private static final long serialVersionUID = 1;

            @Override
            protected boolean removeEldestEntry(Map.Entry<Key, Kernel> eldest) {
                return size() > PreparedKernels.this.capacity;
            }
        };
    }

    /**
     * Those of {@link Kernels#system} that the process shares.
     *
     * @return one for all
     */
    public static PreparedKernels system() {
        return SYSTEM;
    }

    /**
     * A kernel, made if it is not there.
     *
     * @param computation
     *            what it computes
     * @param place
     *            where
     * @param arguments
     *            inputs and outputs; null for what is left out
     * @return not to be closed by the caller
     * @throws NoKernelException
     *             if there is none for these types at this place
     */
    public Kernel get(Computation computation, Place place, @Nullable TensorSpec... arguments) {
        List<@Nullable TensorSpec> specs = new ArrayList<>(arguments.length);
        for (TensorSpec argument : arguments) {
            specs.add(argument);
        }
        Key key = new Key(computation, place.kind(), specs);
        synchronized (this) {
            Kernel kernel = prepared.get(key);
            if (kernel != null) {
                return kernel;
            }
        }
        // Made outside of the lock, since it takes milliseconds: two threads may make the same one.
        Kernel made = kernels.prepare(computation, place, arguments);
        synchronized (this) {
            prepared.put(key, made);
        }
        return made;
    }
}
