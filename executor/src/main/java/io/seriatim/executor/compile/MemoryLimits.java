package io.seriatim.executor.compile;

import io.seriatim.device.DeviceMemoryException;
import io.seriatim.device.Place;
import io.seriatim.executor.ir.Failures;
import io.seriatim.executor.ir.RunFailure;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.TaskGraph;
import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.graph.op.KernelTables;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.program.HeapMemory;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Fill;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.Where;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.PreparationMemoryError;
import java.util.Arrays;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Refuses operations of which a single result, temporary or table of a kernel does not fit into the memory of the host.
 * Only memory that is really taken counts: a result that the plan has made a view takes none. Other devices refuse what
 * does not fit when it is allocated.
 */
final class MemoryLimits {
    private final long limit;

    /**
     * The limit of the host's memory.
     *
     * @param limit
     *            in bytes
     */
    MemoryLimits(long limit) {
        this.limit = limit;
    }

    /** Checks all tasks, which are placed. */
    void check(TaskGraph graph) {
        check(graph, _ -> true);
    }

    /**
     * Checks those of some tasks that the passes surely leave with their results, because the passes request kernels,
     * which may make arrays of the lengths of what they compute. Values without a place are those of the host.
     */
    void checkBeforePasses(TaskGraph graph, Predicate<Task.Compute> which) {
        check(graph, task -> which.test(task) && task.stages().stream().noneMatch(MemoryLimits::mayVanish));
    }

    /** Whether a stage may become a view, or part of the stage that reads its result. */
    private static boolean mayVanish(Stage stage) {
        return switch (stage.computation()) {
            case Copy _,Fill _,Unary _,Binary _,Where _ -> true;
            case null, default -> false;
        };
    }

    private void check(TaskGraph graph, Predicate<Task.Compute> which) {
        ValueTable values = graph.values();
        for (Task task : graph.tasks()) {
            if (task instanceof Task.Compute compute && which.test(compute)) {
                if (compute.place().isHost()) {
                    compute.temporaries().forEach(each -> require(values, compute, "a temporary", each));
                }
                compute.stages().forEach(stage -> requireTables(values, compute, stage));
                for (int value : compute.writes()) {
                    TensorSpec spec = values.spec(value);
                    Place place = values.place(value);
                    if (spec != null && values.memory(value) == value && values.constant(value) == null
                            && values.origin(value) == ValueNumbering.Origin.COMPUTED
                            && (place == null || place.isHost())) {
                        require(values, compute, "its result '" + values.name(value) + "'", spec);
                    }
                }
            }
        }
    }

    private void require(ValueTable values, Task.Compute task, String purpose, TensorSpec spec) {
        if (spec.bytes() > limit) {
            throw Failures.of(task.operations(), shapes(values), new DeviceMemoryException(spec.bytes()
                    + WorkingMemory.tooMuch(purpose + ", " + Failures.shape(spec), limit)));
        }
    }

    /** Tables that kernels make for the axes of a tensor: a result without elements may have long axes. */
    private void requireTables(ValueTable values, Task.Compute task, Stage stage) {
        Computation computation = stage.computation();
        if (computation == null || stage.args().isEmpty()) {
            return;
        }
        try {
            KernelTables.require(computation, limit, stage.specs());
        } catch (DeviceMemoryException e) {
            throw Failures.of(task.operations(), shapes(values), e);
        }
    }

    private static Function<Integer, @Nullable String> shapes(ValueTable values) {
        return value -> {
            TensorSpec known = values.spec(value);
            return known == null ? null : Failures.shape(known);
        };
    }

    /**
     * The failure of the operation for whose kernel memory was exhausted. A pass may have asked for the kernel of an
     * operation that it was about to make; then one of the same kind and result is named, or else what the kernel
     * was to compute.
     */
    static RunFailure exhausted(TaskGraph graph, PreparationMemoryError error) {
        Computation wanted = error.computation();
        Task.Compute task = find(graph, stage -> wanted.equals(stage.computation())
                && Arrays.asList(stage.specs()).equals(error.arguments()));
        if (task == null) {
            task = find(graph, stage -> stage.computation() != null
                    && wanted.operation().equals(stage.computation().operation())
                    && Objects.equals(Arrays.asList(stage.specs()).getLast(), error.arguments().getLast()));
        }
        if (task != null) {
            return Failures.of(task.operations(), shapes(graph.values()), error);
        }
        String operands = error.arguments().stream().map(each -> each == null ? "none" : Failures.shape(each))
                .collect(Collectors.joining(", "));
        return new RunFailure(error.computation().operation(), "A kernel of " + error.computation().operation()
                + " for " + operands + " cannot be prepared: " + HeapMemory.advice(error), error);
    }

    private static Task.@Nullable Compute find(TaskGraph graph, Predicate<Stage> which) {
        for (Task task : graph.tasks()) {
            if (task instanceof Task.Compute compute && compute.stages().stream().anyMatch(which)) {
                return compute;
            }
        }
        return null;
    }
}
