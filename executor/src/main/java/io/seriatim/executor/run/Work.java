package io.seriatim.executor.run;

import io.seriatim.device.Access;
import io.seriatim.executor.ir.Stage;
import io.seriatim.graph.op.Step;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A stage of a task with its arguments, ready to run. Of one run at a time. */
public final class Work {
    private final Stage stage;
    private @Nullable Kernel kernel;
    private final Step.@Nullable HostFunction call;
    private final @Nullable Tensor[] arguments;

    Work(Stage stage) {
        this.stage = stage;
        this.kernel = stage.kernel();
        this.call = stage.work() instanceof Step.Work.Call(String _, var function) ? function : null;
        this.arguments = new Tensor[stage.inputs().size() + stage.outputs().size()];
    }

    Stage stage() {
        return stage;
    }

    /** Null for a Java function. */
    @Nullable
    public Kernel kernel() {
        return kernel;
    }

    /** In the order of the kernel. To be filled, and filled anew when memory changes. */
    @Nullable
    public Tensor[] arguments() {
        return arguments;
    }

    /** Has another kernel work from now on, one argument of which is another. */
    void use(@Nullable Kernel other, int argument, @Nullable Tensor tensor) {
        kernel = other;
        arguments[argument] = tensor;
    }

    void run(KernelContext context) throws Exception {
        if (kernel != null) {
            kernel.run(arguments, context);
        } else if (call != null) {
            List<@Nullable Tensor> all = Arrays.asList(arguments);
            int inputs = stage.inputs().size();
            call.run(all.subList(0, inputs), all.subList(inputs, all.size()));
        }
    }

    /** What it touches, for a stream. */
    List<Access> accesses() {
        List<Access> accesses = new ArrayList<>(arguments.length);
        Computation computation = stage.computation();
        for (int i = 0; i < arguments.length; i++) {
            Tensor tensor = arguments[i];
            if (tensor != null && tensor.shape().size() == 0) {
                // Nothing of it is touched, but a kernel may look where it is.
                accesses.add(new Access(tensor.buffer(), 0, 0, false));
            } else if (tensor != null) {
                boolean writes = i >= stage.inputs().size() || (computation != null && computation.mutates(i));
                accesses.add(tensor.access(writes));
            }
        }
        return accesses;
    }
}
