package io.seriatim.executor.pass;

import io.seriatim.executor.ir.Options;
import io.seriatim.executor.ir.Task;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.PreparedKernels;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;

/**
 * Creates the kernels of tasks on several threads before they are requested one after the other, because creating a
 * kernel and generating its code can take milliseconds. It makes no decisions; if a kernel cannot be created, the later
 * request reports the failure.
 */
public final class KernelsAhead {
    private KernelsAhead() {
    }

    /** Creates the kernels of all tasks. */
    public static void of(List<Task> tasks, Options options, PreparedKernels kernels) {
        ahead(tasks, options, kernels, _ -> true);
    }

    /** Creates the kernels of products and convolutions, which {@link Epilogue} compares with fused kernels. */
    static void ofProducts(List<Task> tasks, Options options, PreparedKernels kernels) {
        ahead(tasks, options, kernels,
                computation -> computation instanceof MatMul || Epilogue.isConvolution(computation));
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
