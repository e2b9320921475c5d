package io.seriatim.executor.pass;

import io.seriatim.device.Place;
import io.seriatim.executor.ir.Access;
import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.TaskGraph;
import io.seriatim.executor.ir.TaskSet;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.PreparedKernels;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
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
    /**
     * Kept results may take this share of the memory of the variables from which they are computed, and some more.
     * Those that are packed may take as much as the variables, since packed variables do so too.
     */
    private static final int SHARE = 2;
    private static final long ANYWAY = 1L << 23;

    private final TaskGraph tasks;
    private final ValueTable values;
    private final PreparedKernels kernels;
    private final Layouts layouts;
    /** What depends only on variables, with the last task that writes it. */
    private final Map<Integer, Integer> writers = new HashMap<>();

    /**
     * The kept results of a task.
     *
     * @param values
     *            the values that stand for them in the plan, which no task writes
     * @param recipe
     *            how they are computed
     * @param sources
     *            the values of the variables that the recipe names, in its order
     * @param kernels
     *            a kernel for each step of the recipe
     * @param accesses
     *            the operation of each step
     */
    public record Kept(List<Integer> values, Recipe recipe, List<Integer> sources, List<Kernel> kernels,
            List<Access> accesses) {
    }

    /**
     * What is computed. Operands are parts of numbered memories: first the variables, then the results, then memory
     * that is free afterwards.
     *
     * @param variables
     *            the names of the variables
     * @param results
     *            the types of the results
     * @param temporaries
     *            the types of the other memories
     * @param steps
     *            the computations, in order
     */
    public record Recipe(List<String> variables, List<TensorSpec> results, List<TensorSpec> temporaries,
            List<Step> steps) {
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
        this.kernels = kernels;
        this.layouts = new Layouts(tasks, kernels);
    }

    /** Removes the tasks from the graph, whose stages have kernels, and returns what replaces them. */
    public static List<Kept> take(TaskGraph tasks, PreparedKernels kernels) {
        return new ParameterResults(tasks, kernels).take();
    }

    private List<Kept> take() {
        Set<Integer> found = new HashSet<>();
        for (int i = 0; i < tasks.size(); i++) {
            if (tasks.get(i) instanceof Task.Compute task && dependsOnVariables(task)) {
                found.add(i);
                for (int value : task.writes()) {
                    if (tasks.writers(value).stream().allMatch(found::contains) && isComplete(value, i)) {
                        writers.put(value, i);
                    }
                }
            }
        }
        List<Kept> all = new ArrayList<>();
        Map<Integer, Integer> kept = new HashMap<>();
        long left = ANYWAY;
        long leftPacked = 0;
        Set<Integer> counted = new HashSet<>();
        for (int index : new TreeSet<>(writers.values())) {
            List<Integer> results = Arrays.stream(tasks.compute(index).writes())
                    .filter(value -> Objects.equals(writers.get(value), index) && isReadByOthers(value)).boxed()
                    .toList();
            if (results.isEmpty()) {
                continue;
            }
            Set<Integer> needed = new TreeSet<>();
            need(index, needed);
            List<Integer> sources = sources(needed);
            long more = sources.stream().filter(counted::add).mapToLong(source -> spec(source).bytes()).sum();
            left += more / SHARE;
            leftPacked += more;
            long bytes = results.stream().mapToLong(result -> spec(result).bytes()).sum();
            boolean isPacked = bytes <= leftPacked && results.stream().allMatch(this::isOnlyPacked);
            if (isPacked || bytes <= left) {
                left -= isPacked ? 0 : bytes;
                leftPacked -= isPacked ? bytes : 0;
                all.add(kept(results, needed, sources, kept));
            }
        }
        replace(kept);
        return List.copyOf(all);
    }

    private TensorSpec spec(int value) {
        return Objects.requireNonNull(values.spec(value));
    }

    /** Returns whether all tasks that stay read a value as weights that {@link PackedResults} will pack. */
    private boolean isOnlyPacked(int value) {
        Layouts packing = new Layouts(tasks, kernels, weights -> weights == value);
        return tasks.readers(value).stream().filter(reader -> !isTaken(tasks.compute(reader))).allMatch(reader -> tasks
                .compute(reader).stages().stream()
                .filter(stage -> stage.inputs().stream().anyMatch(arg -> arg != null && arg.value() == value))
                .allMatch(stage -> packing.packed(reader, 0, stage).size() == 1
                        && stage.inputs().stream().filter(arg -> arg != null && arg.value() == value).count() == 1));
    }

    private boolean isTaken(Task.Compute task) {
        return task.writes().length > 0 && writers.containsKey(task.writes()[0]);
    }

    /** Several tasks may write parts of a value, as those of a concatenation, before others read it. */
    private boolean isComplete(int value, int last) {
        TaskSet all = tasks.writers(value);
        return tasks.readers(value).stream().allMatch(reader -> reader > last || all.contains(reader));
    }

    private boolean dependsOnVariables(Task.Compute task) {
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
            if (!values.isTemporary(value) || values.isPart(value) || values.spec(value) == null) {
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
            others |= !isTaken(task);
        }
        return others;
    }

    /** Adds a task and those whose results it needs, in the order of the program. */
    private void need(int index, Set<Integer> needed) {
        if (needed.add(index)) {
            for (int value : tasks.compute(index).writes()) {
                if (writers.containsKey(value)) {
                    tasks.writers(value).stream().forEach(writer -> need(writer, needed));
                }
            }
            for (int read : tasks.compute(index).reads()) {
                Integer writer = writers.get(read);
                if (writer != null) {
                    need(writer, needed);
                }
            }
        }
    }

    /** Returns the variables that tasks read. */
    private List<Integer> sources(Set<Integer> needed) {
        Set<Integer> written = new HashSet<>();
        needed.forEach(index -> Arrays.stream(tasks.compute(index).writes()).forEach(written::add));
        return needed.stream().flatMapToInt(index -> Arrays.stream(tasks.compute(index).reads()))
                .filter(value -> !written.contains(value) && values.constant(value) == null).distinct().boxed()
                .toList();
    }

    /** Returns the results of the last of some tasks, and adds the values that stand for them. */
    private Kept kept(List<Integer> results, Set<Integer> needed, List<Integer> sources, Map<Integer, Integer> kept) {
        Map<Integer, Integer> memories = new HashMap<>();
        sources.forEach(value -> memories.put(value, memories.size()));
        results.forEach(value -> memories.put(value, memories.size()));
        List<TensorSpec> temporaries = new ArrayList<>();
        for (int index : needed) {
            for (int value : tasks.compute(index).writes()) {
                if (memories.putIfAbsent(value, memories.size()) == null) {
                    temporaries.add(spec(value));
                }
            }
        }
        List<Step> steps = new ArrayList<>();
        List<Kernel> kernels = new ArrayList<>();
        List<Access> accesses = new ArrayList<>();
        for (int index : needed) {
            Task.Compute task = tasks.compute(index);
            int first = sources.size() + results.size() + temporaries.size();
            temporaries.addAll(task.temporaries());
            for (Stage stage : task.stages()) {
                List<@Nullable Operand> operands = new ArrayList<>();
                for (Arg arg : stage.args()) {
                    operands.add(arg == null ? null : operand(arg, memories, first));
                }
                steps.add(new Step(Objects.requireNonNull(stage.computation()), operands));
                kernels.add(Objects.requireNonNull(stage.kernel()));
                accesses.add(stage.access());
            }
        }
        List<Integer> given = new ArrayList<>();
        for (int result : results) {
            int value = values.addGiven("kept " + values.name(result), spec(result));
            values.place(value, Place.CPU);
            kept.put(result, value);
            given.add(value);
        }
        Recipe recipe = new Recipe(sources.stream().map(values::name).toList(),
                results.stream().map(this::spec).toList(), List.copyOf(temporaries), List.copyOf(steps));
        return new Kept(List.copyOf(given), recipe, sources, List.copyOf(kernels), List.copyOf(accesses));
    }

    private Operand operand(Arg arg, Map<Integer, Integer> memories, int temporaries) {
        return switch (arg.source()) {
            case Arg.Value(int value) -> {
                Tensor constant = values.constant(value);
                yield new Operand(constant != null ? -1 : Objects.requireNonNull(memories.get(value)), constant,
                        arg.offset(), arg.spec());
            }
            case Arg.Temporary(int number) -> new Operand(temporaries + number, null, arg.offset(), arg.spec());
            case Arg.Constant(Tensor tensor) -> new Operand(-1, tensor, arg.offset(), arg.spec());
            case Arg.Key _ -> throw new IllegalStateException("A random number does not depend on variables");
        };
    }

    private void replace(Map<Integer, Integer> kept) {
        if (kept.isEmpty()) {
            return;
        }
        for (int i = 0; i < tasks.size(); i++) {
            if (tasks.get(i) instanceof Task.Compute task
                    && Arrays.stream(task.reads()).anyMatch(kept::containsKey)) {
                List<Stage> stages = task.stages().stream()
                        .map(stage -> stage.reading(value -> kept.getOrDefault(value, value))).toList();
                tasks.put(i, task.with(task.operations(), stages));
            }
        }
        // Backwards, since a task may be read by others of these only.
        for (int i = tasks.size() - 1; i >= 0; i--) {
            if (tasks.get(i) instanceof Task.Compute task && task.writes().length > 0
                    && Arrays.stream(task.writes())
                            .allMatch(value -> writers.containsKey(value) && tasks.readers(value).isEmpty())) {
                tasks.remove(i);
            }
        }
        tasks.compact();
    }
}
