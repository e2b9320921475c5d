package io.seriatim.executor.pass;

import io.seriatim.executor.ir.Options;
import io.seriatim.executor.ir.Task;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.network.Convolution;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.PreparedKernels;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;

/**
 * Has the kernels of tasks made on several threads before they are asked for one after the other: making one and its
 * code takes up to some milliseconds. Nothing is decided here; a kernel that cannot be made is reported by whoever
 * needs it.
 */
public final class KernelsAhead {
    private KernelsAhead() {
    }

    /** All of them. */
    public static void of(List<Task> tasks, Options options, PreparedKernels kernels) {
        ahead(tasks, options, kernels, _ -> true);
    }

    /** Those that {@link Epilogue} compares others with. */
    static void ofProducts(List<Task> tasks, Options options, PreparedKernels kernels) {
        ahead(tasks, options, kernels,
                computation -> computation instanceof MatMul || computation instanceof Convolution);
    }

    private static void ahead(List<Task> tasks, Options options, PreparedKernels kernels,
            Predicate<Computation> which) {
        kernels.makeAhead(Task.stages(tasks).<PreparedKernels.Request>mapMulti((stage, requests) -> {
            Computation computation = stage.computation();
            if (computation != null && which.test(computation)) {
                requests.accept(
                        new PreparedKernels.Request(computation, options.place(), Arrays.asList(stage.specs())));
            }
        }).toList());
    }
}
