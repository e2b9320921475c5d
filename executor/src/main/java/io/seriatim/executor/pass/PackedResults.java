package io.seriatim.executor.pass;

import io.seriatim.device.Place;
import io.seriatim.executor.ir.Access;
import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.TaskGraph;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.graph.op.Step;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.PreparedKernels;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Packs weights that are kept results of parameters, such as standardised weights, as {@link Layouts} packs variables:
 * the packed form becomes another result. What no task reads as it was is no longer kept.
 */
public final class PackedResults {
    private final TaskGraph tasks;
    private final ValueTable values;
    private final PreparedKernels kernels;
    /** By value, the index of the results to which it belongs. */
    private final Map<Integer, Integer> of = new HashMap<>();
    private final Map<Form, Packing> packings = new LinkedHashMap<>();

    /** A kept result as a kernel wants it. */
    private record Form(int value, long offset, TensorSpec source, TensorSpec wanted) {
    }

    /** The value that stands for the packed weights, and the kernel that packs them. */
    private record Packing(int value, Kernel kernel) {
    }

    private PackedResults(TaskGraph tasks, List<ParameterResults.Kept> kept, PreparedKernels kernels) {
        this.tasks = tasks;
        this.values = tasks.values();
        this.kernels = kernels;
        for (int i = 0; i < kept.size(); i++) {
            for (int value : kept.get(i).values()) {
                of.put(value, i);
            }
        }
    }

    /** Changes the stages of the graph, which have kernels, and returns the results that they read. */
    public static List<ParameterResults.Kept> pack(TaskGraph tasks, List<ParameterResults.Kept> kept,
            PreparedKernels kernels) {
        return kept.isEmpty() ? kept : new PackedResults(tasks, kept, kernels).pack(kept);
    }

    private List<ParameterResults.Kept> pack(List<ParameterResults.Kept> kept) {
        Layouts layouts = new Layouts(tasks, kernels, of::containsKey);
        for (int i = 0; i < tasks.size(); i++) {
            if (!(tasks.get(i) instanceof Task.Compute task)
                    || Arrays.stream(task.reads()).noneMatch(of::containsKey)) {
                continue;
            }
            List<Stage> stages = new ArrayList<>(task.stages());
            for (int j = 0; j < stages.size(); j++) {
                List<Layouts.Packed> packed = layouts.packed(i, j, stages.get(j));
                if (packed.size() == 1) {
                    stages.set(j, reading(stages.get(j), packed.getFirst()));
                }
            }
            if (!stages.equals(task.stages())) {
                tasks.put(i, task.with(task.operations(), stages));
            }
        }
        List<ParameterResults.Kept> all = new ArrayList<>();
        for (int i = 0; i < kept.size(); i++) {
            all.add(changed(kept.get(i), i));
        }
        return List.copyOf(all);
    }

    private Stage reading(Stage stage, Layouts.Packed packed) {
        Arg weights = Objects.requireNonNull(stage.inputs().get(packed.input()));
        Packing packing = packings.computeIfAbsent(
                new Form(weights.value(), weights.offset(), packed.source(), packed.wanted()), form -> {
                    int value = values.addGiven(values.name(form.value()) + "_packed", form.wanted());
                    values.place(value, Place.CPU);
                    return new Packing(value, packed.packing());
                });
        List<@Nullable Arg> inputs = new ArrayList<>(stage.inputs());
        inputs.set(packed.input(), new Arg(new Arg.Value(packing.value()), 0, packed.wanted()));
        return new Stage(stage.access(),
                new Step.Work.Compute(Layouts.ofPacked(Objects.requireNonNull(stage.computation()))), inputs,
                stage.outputs(), packed.kernel());
    }

    /** Returns the results with the packed ones, and without those that only the packing reads. */
    private ParameterResults.Kept changed(ParameterResults.Kept kept, int index) {
        List<Map.Entry<Form, Packing>> added = packings.entrySet().stream()
                .filter(entry -> Objects.equals(of.get(entry.getKey().value()), index)).toList();
        if (added.isEmpty()) {
            return kept;
        }
        ParameterResults.Recipe recipe = kept.recipe();
        int sources = recipe.variables().size();
        List<Integer> given = new ArrayList<>();
        List<TensorSpec> results = new ArrayList<>();
        List<TensorSpec> temporaries = new ArrayList<>();
        List<Integer> left = new ArrayList<>();
        for (int i = 0; i < kept.values().size(); i++) {
            if (tasks.readers(kept.values().get(i)).isEmpty()) {
                left.add(i);
                temporaries.add(recipe.results().get(i));
            } else {
                given.add(kept.values().get(i));
                results.add(recipe.results().get(i));
            }
        }
        int stay = results.size();
        added.forEach(entry -> {
            given.add(entry.getValue().value());
            results.add(entry.getKey().wanted());
        });
        int[] memories = new int[sources + recipe.results().size() + recipe.temporaries().size()];
        int next = sources;
        for (int i = 0; i < memories.length; i++) {
            int result = i - sources;
            memories[i] = i < sources
                    ? i
                    : result >= recipe.results().size()
                            ? sources + results.size() + left.size() + result - recipe.results().size()
                            : left.contains(result) ? sources + results.size() + left.indexOf(result) : next++;
        }
        temporaries.addAll(recipe.temporaries());
        List<ParameterResults.Step> steps = new ArrayList<>(
                recipe.steps().stream().map(step -> renumbered(step, memories)).toList());
        List<Kernel> all = new ArrayList<>(kept.kernels());
        List<Access> accesses = new ArrayList<>(kept.accesses());
        for (int i = 0; i < added.size(); i++) {
            Form form = added.get(i).getKey();
            int from = memories[sources + kept.values().indexOf(form.value())];
            TensorSpec target =
                    new TensorSpec(form.wanted().dtype(), form.source().shape(), form.wanted().layout());
            steps.add(new ParameterResults.Step(Copy.PLAIN,
                    List.of(new ParameterResults.Operand(from, null, form.offset(), form.source()),
                            new ParameterResults.Operand(sources + stay + i, null, 0, target))));
            all.add(added.get(i).getValue().kernel());
            accesses.add(accesses.getLast());
        }
        return new ParameterResults.Kept(List.copyOf(given),
                new ParameterResults.Recipe(recipe.variables(), List.copyOf(results), List.copyOf(temporaries),
                        List.copyOf(steps)),
                kept.sources(), List.copyOf(all), List.copyOf(accesses));
    }

    private static ParameterResults.Step renumbered(ParameterResults.Step step, int[] memories) {
        List<ParameterResults.@Nullable Operand> operands = new ArrayList<>();
        for (ParameterResults.Operand operand : step.operands()) {
            operands.add(operand == null || operand.constant() != null
                    ? operand
                    : new ParameterResults.Operand(memories[operand.memory()], null, operand.offset(),
                            operand.spec()));
        }
        return new ParameterResults.Step(step.computation(), operands);
    }
}
