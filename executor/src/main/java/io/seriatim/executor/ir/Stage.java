package io.seriatim.executor.ir;

import io.seriatim.graph.op.Step;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Kernel;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * One kernel, or one Java function, of a task.
 *
 * @param access
 *            the operation that it is part of
 * @param work
 *            the computation or function
 * @param inputs
 *            the operands that it reads; null for absent optional inputs
 * @param outputs
 *            the operands that it writes; null for outputs that are not used
 * @param kernel
 *            the kernel; null before it is selected, and for a function
 */
public record Stage(Access access, Step.Work work, List<@Nullable Arg> inputs, List<@Nullable Arg> outputs,
        @Nullable Kernel kernel) {
    /** Copies the lists. */
    public Stage {
        inputs = Collections.unmodifiableList(new ArrayList<>(inputs));
        outputs = Collections.unmodifiableList(new ArrayList<>(outputs));
    }

    public static Stage of(Access access, Computation computation, List<@Nullable Arg> inputs, Arg output) {
        return new Stage(access, new Step.Work.Compute(computation), inputs, List.of(output), null);
    }

    /** Returns the computation; null for a Java function. */
    @Nullable
    public Computation computation() {
        return work instanceof Step.Work.Compute(Computation computation) ? computation : null;
    }

    /** Returns the operand that it writes; null if it has none, several, or one that is not used. */
    public @Nullable Arg onlyOutput() {
        return outputs.size() == 1 ? outputs.getFirst() : null;
    }

    /** Returns inputs and outputs in the order of a kernel's arguments. */
    public List<@Nullable Arg> args() {
        List<@Nullable Arg> all = new ArrayList<>(inputs.size() + outputs.size());
        all.addAll(inputs);
        all.addAll(outputs);
        return all;
    }

    public TensorSpec[] specs() {
        List<@Nullable TensorSpec> specs = new ArrayList<>(inputs.size() + outputs.size());
        for (Arg arg : inputs) {
            specs.add(arg == null ? null : arg.spec());
        }
        for (Arg arg : outputs) {
            specs.add(arg == null ? null : arg.spec());
        }
        return specs.toArray(TensorSpec[]::new);
    }

    public Stage with(Kernel chosen) {
        return new Stage(access, work, inputs, outputs, chosen);
    }

    public Stage with(List<@Nullable Arg> in, List<@Nullable Arg> out) {
        return new Stage(access, work, in, out, kernel);
    }

    /** Returns the stage with other numbers for the values that it reads and writes. */
    public Stage withValues(IntUnaryOperator numbers) {
        return with(revalued(inputs, numbers), revalued(outputs, numbers));
    }

    /** Returns the stage with other numbers for the values that it reads. */
    public Stage reading(IntUnaryOperator numbers) {
        return with(revalued(inputs, numbers), outputs);
    }

    private static List<@Nullable Arg> revalued(List<@Nullable Arg> args, IntUnaryOperator numbers) {
        List<@Nullable Arg> all = new ArrayList<>(args.size());
        for (Arg arg : args) {
            all.add(arg == null || arg.value() < 0 ? arg : arg.of(numbers.applyAsInt(arg.value())));
        }
        return all;
    }

    Stage withTemporaries(IntUnaryOperator numbers) {
        return with(renumbered(inputs, numbers), renumbered(outputs, numbers));
    }

    private static List<@Nullable Arg> renumbered(List<@Nullable Arg> args, IntUnaryOperator numbers) {
        List<@Nullable Arg> all = new ArrayList<>(args.size());
        for (Arg arg : args) {
            all.add(arg != null && arg.source() instanceof Arg.Temporary(int number)
                    ? new Arg(new Arg.Temporary(numbers.applyAsInt(number)), arg.offset(), arg.spec())
                    : arg);
        }
        return all;
    }

    /** Returns the name for messages and traces. */
    public String name() {
        return switch (work) {
            case Step.Work.Compute(Computation computation) -> computation.operation();
            case Step.Work.Call(String name, var _) -> name;
        };
    }
}
