package io.seriatim.executor.pass;

import io.seriatim.device.Place;
import io.seriatim.executor.ir.Access;
import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.TaskGraph;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.PreparedKernels;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Takes tasks out of a plan whose results depend only on variables that the plan does not write: factors of folded
 * normalisations, biases that are gathered by position, transposed or scaled weights. A run computes them only if one
 * of the variables has changed since ({@link io.seriatim.executor.ir.KeptResults}).
 */
public final class ParameterResults {
    /** Kept results may take this share of the memory of the variables from which they are computed, and some more. */
    private static final int SHARE = 2;
    private static final long ANYWAY = 1L << 23;

    private final TaskGraph tasks;
    private final ValueTable values;
    private final Layouts layouts;
    /** The tasks whose results depend only on variables, by what they write. */
    private final Map<Integer, Integer> writers = new HashMap<>();

    /**
     * A kept result.
     *
     * @param value
     *            the value that stands for it in the plan, which no task writes
     * @param recipe
     *            how it is computed
     * @param sources
     *            the values of the variables that the recipe names, in its order
     * @param kernels
     *            a kernel for each step of the recipe
     * @param accesses
     *            the operation of each step
     */
    public record Kept(int value, Recipe recipe, List<Integer> sources, List<Kernel> kernels, List<Access> accesses) {
    }

    /**
     * What is computed. Operands are parts of numbered memories: first the variables, then memory for each of the
     * specs, of which the last is the result.
     *
     * @param variables
     *            the names of the variables
     * @param memories
     *            the types of the memories after the variables
     * @param steps
     *            the computations, in order
     */
    public record Recipe(List<String> variables, List<TensorSpec> memories, List<Step> steps) {
    }

    /** A computation with its inputs, then its outputs; null for those that are left out. */
    public record Step(Computation computation, List<@Nullable Operand> operands) {
    }

    /** A part of a memory, or of a constant if there is one. */
    public record Operand(int memory, @Nullable Tensor constant, long offset, TensorSpec spec) {
    }

    private ParameterResults(TaskGraph tasks, PreparedKernels kernels) {
        this.tasks = tasks;
        this.values = tasks.values();
        this.layouts = new Layouts(tasks, kernels);
    }

    /** Removes the tasks from the graph, whose stages have kernels, and returns what replaces them. */
    public static List<Kept> take(TaskGraph tasks, PreparedKernels kernels) {
        return new ParameterResults(tasks, kernels).take();
    }

    private List<Kept> take() {
        for (int i = 0; i < tasks.size(); i++) {
            if (tasks.get(i) instanceof Task.Compute task && dependsOnVariables(i, task)) {
                for (int value : task.writes()) {
                    writers.put(value, i);
                }
            }
        }
        Map<Integer, Kept> kept = new LinkedHashMap<>();
        long left = ANYWAY;
        Set<Integer> counted = new TreeSet<>();
        for (int value : new TreeSet<>(writers.keySet())) {
            if (!isReadByOthers(value)) {
                continue;
            }
            Kept result = recipe(value);
            for (int source : result.sources()) {
                left += counted.add(source) ? Objects.requireNonNull(values.spec(source)).bytes() / SHARE : 0;
            }
            long bytes = Objects.requireNonNull(values.spec(value)).bytes();
            if (bytes <= left) {
                left -= bytes;
                kept.put(value, result);
            }
        }
        replace(kept);
        return List.copyOf(kept.values());
    }

    private boolean dependsOnVariables(int index, Task.Compute task) {
        if (!task.isPure() || !task.place().isHost() || task.writes().length == 0) {
            return false;
        }
        for (Stage stage : task.stages()) {
            if (stage.computation() == null || stage.kernel() == null) {
                return false;
            }
            for (int i = 0; i < stage.inputs().size(); i++) {
                Arg arg = stage.inputs().get(i);
                if (arg != null && (stage.computation().mutates(i) || !isOfVariables(arg, task))) {
                    return false;
                }
            }
        }
        for (int value : task.writes()) {
            if (!tasks.isTemporaryOf(value, index) || values.isPart(value) || values.spec(value) == null) {
                return false;
            }
        }
        return true;
    }

    private boolean isOfVariables(Arg arg, Task.Compute task) {
        return switch (arg.source()) {
            case Arg.Value(int value) -> writers.containsKey(value) || values.constant(value) != null
                    || layouts.isKept(value) || Arrays.stream(task.writes()).anyMatch(written -> written == value);
            case Arg.Temporary _,Arg.Constant _ -> true;
            case Arg.Key _ -> false;
        };
    }

    /** Returns whether a task that stays reads a value, and all that read it run kernels on the host. */
    private boolean isReadByOthers(int value) {
        boolean others = false;
        for (int reader : tasks.readers(value).toArray()) {
            if (!(tasks.get(reader) instanceof Task.Compute task) || !task.place().isHost()) {
                return false;
            }
            others |= task.writes().length == 0 || !writers.containsKey(task.writes()[0]);
        }
        return others;
    }

    private Kept recipe(int result) {
        Set<Integer> needed = new TreeSet<>();
        need(result, needed);
        List<Integer> sources = new ArrayList<>(new LinkedHashSet<>(needed.stream().map(tasks::compute)
                .flatMapToInt(task -> Arrays.stream(task.reads()))
                .filter(value -> !writers.containsKey(value) && values.constant(value) == null).boxed().toList()));
        List<Integer> made = new ArrayList<>();
        List<TensorSpec> memories = new ArrayList<>();
        for (int index : needed) {
            for (int value : tasks.compute(index).writes()) {
                if (value != result) {
                    made.add(value);
                    memories.add(Objects.requireNonNull(values.spec(value)));
                }
            }
        }
        List<Step> steps = new ArrayList<>();
        List<Kernel> kernels = new ArrayList<>();
        List<Access> accesses = new ArrayList<>();
        for (int index : needed) {
            Task.Compute task = tasks.compute(index);
            int temporaries = sources.size() + memories.size();
            memories.addAll(task.temporaries());
            for (Stage stage : task.stages()) {
                List<@Nullable Operand> operands = new ArrayList<>();
                for (Arg arg : stage.args()) {
                    operands.add(arg == null ? null : operand(arg, sources, made, temporaries, result));
                }
                steps.add(new Step(Objects.requireNonNull(stage.computation()), operands));
                kernels.add(Objects.requireNonNull(stage.kernel()));
                accesses.add(stage.access());
            }
        }
        memories.add(Objects.requireNonNull(values.spec(result)));
        Recipe recipe = new Recipe(sources.stream().map(values::name).toList(), List.copyOf(memories),
                List.copyOf(steps));
        int value = values.addGiven("kept " + values.name(result), memories.getLast());
        values.place(value, Place.CPU);
        return new Kept(value, recipe, List.copyOf(sources), List.copyOf(kernels), List.copyOf(accesses));
    }

    /** Adds the tasks that a value needs, in the order of the program. */
    private void need(int value, Set<Integer> needed) {
        Integer writer = writers.get(value);
        if (writer != null && needed.add(writer)) {
            for (int read : tasks.compute(writer).reads()) {
                need(read, needed);
            }
        }
    }

    private Operand operand(Arg arg, List<Integer> sources, List<Integer> made, int temporaries, int result) {
        return switch (arg.source()) {
            case Arg.Value(int value) when values.constant(value) != null ->
                new Operand(-1, values.constant(value), arg.offset(), arg.spec());
            case Arg.Value(int value) when value == result -> new Operand(RESULT, null, arg.offset(), arg.spec());
            case Arg.Value(int value) -> new Operand(made.contains(value)
                    ? sources.size() + made.indexOf(value)
                    : sources.indexOf(value), null, arg.offset(), arg.spec());
            case Arg.Temporary(int number) -> new Operand(temporaries + number, null, arg.offset(), arg.spec());
            case Arg.Constant(Tensor tensor) -> new Operand(-1, tensor, arg.offset(), arg.spec());
            case Arg.Key _ -> throw new IllegalStateException("A random number does not depend on variables");
        };
    }

    /** In place of the number of a memory: the last one. */
    public static final int RESULT = -2;

    private void replace(Map<Integer, Kept> kept) {
        if (kept.isEmpty()) {
            return;
        }
        for (int i = 0; i < tasks.size(); i++) {
            if (tasks.get(i) instanceof Task.Compute task
                    && Arrays.stream(task.reads()).anyMatch(kept::containsKey)) {
                List<Stage> stages = task.stages().stream()
                        .map(stage -> stage.with(replaced(stage.inputs(), kept), stage.outputs())).toList();
                tasks.put(i, Task.Compute.of(task.operations(), stages, task.temporaries(), task.place()));
            }
        }
        // A task that only others of these read follows them; of those that stay, nothing is lost.
        for (int i = tasks.size() - 1; i >= 0; i--) {
            if (tasks.get(i) instanceof Task.Compute task && task.writes().length > 0
                    && Arrays.stream(task.writes())
                            .allMatch(value -> writers.containsKey(value) && tasks.readers(value).isEmpty())) {
                tasks.remove(i);
            }
        }
        tasks.compact();
    }

    private static List<@Nullable Arg> replaced(List<@Nullable Arg> args, Map<Integer, Kept> kept) {
        List<@Nullable Arg> all = new ArrayList<>(args.size());
        for (Arg arg : args) {
            Kept there = arg == null ? null : kept.get(arg.value());
            all.add(there == null || arg == null ? arg : arg.of(there.value()));
        }
        return all;
    }
}
