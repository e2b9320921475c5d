package io.seriatim.tensor.onednn;

import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.kernel.Computation;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Kernels of packed weights that were described to find out the layout of these weights, until they are asked for: to
 * describe a convolution takes about half as long as to create it. Bounded, thread-safe.
 */
final class DescribedKernels {
    /** A plan asks for each kernel right after the layout of its weights. */
    private static final int MOST = 32;
    private static final Map<Key, DnnlKernel> WAITING = new LinkedHashMap<>();

    private record Key(Computation computation, List<@Nullable TensorSpec> arguments) {
        static Key of(Computation computation, @Nullable TensorSpec[] arguments) {
            return new Key(computation, Arrays.asList(arguments.clone()));
        }
    }

    private DescribedKernels() {
    }

    /** Keeps a kernel until it is asked for. */
    static void put(Computation computation, @Nullable TensorSpec[] arguments, DnnlKernel kernel) {
        List<DnnlKernel> gone = new ArrayList<>();
        synchronized (WAITING) {
            DnnlKernel before = WAITING.put(Key.of(computation, arguments), kernel);
            if (before != null) {
                gone.add(before);
            }
            Iterator<DnnlKernel> eldest = WAITING.values().iterator();
            while (WAITING.size() > MOST) {
                gone.add(eldest.next());
                eldest.remove();
            }
        }
        gone.forEach(DnnlKernel::close);
    }

    /** Returns a kernel, which from now on belongs to the caller; null if there is none. */
    static @Nullable DnnlKernel take(Computation computation, @Nullable TensorSpec[] arguments) {
        synchronized (WAITING) {
            return WAITING.isEmpty() ? null : WAITING.remove(Key.of(computation, arguments));
        }
    }
}
