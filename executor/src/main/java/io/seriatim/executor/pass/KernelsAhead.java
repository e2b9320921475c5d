package io.seriatim.executor.pass;

import io.seriatim.executor.ir.Options;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.TaskGraph;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.PreparedKernels;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Creates the kernels of products and convolutions, which {@link Epilogue} compares with fused kernels, on several
 * threads before they are requested one after the other, because creating a kernel and generating its code can take
 * milliseconds. It makes no decisions; if a kernel cannot be created, the later request reports the failure.
 */
final class KernelsAhead {
    private KernelsAhead() {
    }

    static void ofProducts(TaskGraph tasks, Options options, PreparedKernels kernels) {
        List<PreparedKernels.Request> requests = new ArrayList<>();
        for (int i = 0; i < tasks.size(); i++) {
            if (tasks.get(i) instanceof Task.Compute compute) {
                for (Stage stage : compute.stages()) {
                    Computation computation = stage.computation();
                    if (computation != null && (computation instanceof MatMul || Epilogue.isConvolution(computation))) {
                        requests.add(new PreparedKernels.Request(computation, options.place(),
                                Arrays.asList(stage.specs())));
                    }
                }
            }
        }
        kernels.makeAhead(requests);
    }
}
