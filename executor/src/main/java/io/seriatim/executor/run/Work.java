package io.seriatim.executor.run;

import io.seriatim.device.Access;
import io.seriatim.executor.ir.Stage;
import io.seriatim.graph.op.Step;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A stage of a task with its bound arguments. One run at a time uses it. */
public final class Work {
    private final Stage stage;
    private @Nullable Kernel kernel;
    private final Step.@Nullable HostFunction call;
    private final @Nullable Tensor[] arguments;
    private final long limit;

    /**
     * Binds no arguments yet.
     *
     * @param limit
     *            of the memory that a Java function may take for itself, in bytes
     */
    Work(Stage stage, long limit) {
        this.stage = stage;
        this.limit = limit;
        this.kernel = stage.kernel();
        this.call = stage.work() instanceof Step.Work.Call(String _, var function) ? function : null;
        this.arguments = new Tensor[stage.inputs().size() + stage.outputs().size()];
    }

    Stage stage() {
        return stage;
    }

    /** Returns the kernel; null for a Java function. */
    @Nullable
    public Kernel kernel() {
        return kernel;
    }

    /** Returns the arguments in the kernel's order. The frame sets them, and sets them again when memory changes. */
    @Nullable
    public Tensor[] arguments() {
        return arguments;
    }

    /** Replaces the kernel and one of its arguments. */
    void use(@Nullable Kernel other, int argument, @Nullable Tensor tensor) {
        kernel = other;
        arguments[argument] = tensor;
    }

    void run(KernelContext context) throws Exception {
        if (kernel != null) {
            kernel.run(arguments, context);
            return;
        }
        Step.HostFunction function = call;
        if (function != null) {
            List<@Nullable Tensor> all = Arrays.asList(arguments);
            int inputs = stage.inputs().size();
            WorkingMemory.within(limit, () -> {
                function.run(all.subList(0, inputs), all.subList(inputs, all.size()));
                return true;
            });
        }
    }

    /** Returns the memory that the stage accesses, for the stream that runs it. */
    List<Access> accesses() {
        List<Access> accesses = new ArrayList<>(arguments.length);
        Computation computation = stage.computation();
        for (int i = 0; i < arguments.length; i++) {
            Tensor tensor = arguments[i];
            if (tensor != null && tensor.shape().size() == 0) {
                // An empty tensor has no elements to access, but a kernel may take its address.
                accesses.add(new Access(tensor.buffer(), 0, 0, false));
            } else if (tensor != null) {
                boolean writes = i >= stage.inputs().size() || (computation != null && computation.mutates(i));
                accesses.add(tensor.access(writes));
            }
        }
        return accesses;
    }
}
