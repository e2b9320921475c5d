package io.seriatim.executor;

import io.seriatim.device.Place;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.Kernels;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Kernels by what they compute: many operations of a program are alike, and a kernel serves all of them at once. */
final class PreparedKernels {
    private final Kernels kernels;
    private final Place place;
    private final Map<Key, Kernel> prepared = new ConcurrentHashMap<>();

    private record Key(Computation computation, List<@Nullable TensorSpec> specs) {
    }

    PreparedKernels(Kernels kernels, Place place) {
        this.kernels = kernels;
        this.place = place;
    }

    Kernel get(Computation computation, @Nullable TensorSpec... specs) {
        return prepared.computeIfAbsent(new Key(computation, new ArrayList<>(Arrays.asList(specs))),
                _ -> kernels.prepare(computation, place, specs));
    }

    void close() {
        prepared.values().forEach(Kernel::close);
        prepared.clear();
    }
}
