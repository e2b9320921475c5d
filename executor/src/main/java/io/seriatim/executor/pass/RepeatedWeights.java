package io.seriatim.executor.pass;

import io.seriatim.device.Place;
import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.PassName;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.TaskGraph;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.graph.op.Step;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.PreparedKernels;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Packs matrices that many products of one run read, such as the weights of recurrent networks, which every time step
 * reads. A separate task before the first product converts the matrix into the layout that the products prefer. The
 * matrix and its transpose, which gradients read, are packed separately. Packing costs about as much as eight products
 * gain.
 *
 * <p>
 * It requires that no task writes the matrix between the first and the last product. The packed matrix is an ordinary
 * temporary. Kernels for other layouts may sum in another order.
 */
final class RepeatedWeights {
    /** This pass, as {@link PassPipeline} runs it. */
    static final RewritePass PASS = RewritePass.onHost(PassName.LAYOUTS, RepeatedWeights::rewrite);

    private static final int LEAST_USES = 8;
    private static final int WEIGHTS = 1;

    private final TaskGraph tasks;
    private final ValueTable values;
    private final PreparedKernels kernels;
    private final Map<Question, Optional<TensorSpec>> answers = new LinkedHashMap<>();

    /** The key of a cached answer: a product and the types of its operands. */
    private record Question(MatMul product, List<@Nullable TensorSpec> specs) {
    }

    /** A matrix, or some of its columns, and whether its transpose is read. */
    private record Source(Arg matrix, boolean transposed) {
    }

    private record Use(int task, int stage) {
    }

    /** A packed matrix and the stages that read it. */
    private record Group(Source source, int packed, TensorSpec wanted, List<Use> uses) {
    }

    private RepeatedWeights(TaskGraph tasks, PreparedKernels kernels) {
        this.tasks = tasks;
        this.values = tasks.values();
        this.kernels = kernels;
    }

    private static void rewrite(TaskGraph tasks, PassContext context) {
        new RepeatedWeights(tasks, context.kernels()).pack();
    }

    private void pack() {
        Map<Source, List<Use>> uses = uses();
        Map<Integer, List<Group>> before = new LinkedHashMap<>();
        Map<Use, Group> of = new LinkedHashMap<>();
        uses.forEach((source, all) -> {
            for (Group group : groups(source, all)) {
                before.computeIfAbsent(group.uses().getFirst().task(), _ -> new ArrayList<>()).add(group);
                group.uses().forEach(use -> of.put(use, group));
            }
        });
        if (of.isEmpty()) {
            return;
        }
        List<Task> result = new ArrayList<>(tasks.size() + before.size());
        for (int i = 0; i < tasks.size(); i++) {
            for (Group group : before.getOrDefault(i, List.of())) {
                result.add(packing(tasks.compute(i), group));
            }
            Task task = Objects.requireNonNull(tasks.get(i));
            result.add(task instanceof Task.Compute compute ? reading(i, compute, of) : task);
        }
        tasks.replaceAll(result);
    }

    private Map<Source, List<Use>> uses() {
        Map<Source, List<Use>> uses = new LinkedHashMap<>();
        Layouts kept = new Layouts(tasks, kernels);
        for (int i = 0; i < tasks.size(); i++) {
            if (tasks.get(i) instanceof Task.Compute task && task.place().isHost() && !isPlaced(task)) {
                for (int j = 0; j < task.stages().size(); j++) {
                    Stage stage = task.stages().get(j);
                    if (stage.computation() instanceof MatMul product && isMatrix(stage.inputs().get(WEIGHTS))) {
                        Arg matrix = Objects.requireNonNull(stage.inputs().get(WEIGHTS));
                        uses.computeIfAbsent(new Source(matrix, product.transposeY()), _ -> new ArrayList<>())
                                .add(new Use(i, j));
                    }
                }
            }
        }
        // Layouts packs persistable variables that no task writes once for all runs.
        uses.entrySet().removeIf(entry -> entry.getValue().size() < LEAST_USES
                || kept.isKept(entry.getKey().matrix().value()));
        return uses;
    }

    private static boolean isPlaced(Task.Compute task) {
        return task.operations().stream().anyMatch(access -> access.placeRequest().namesDevice());
    }

    private boolean isMatrix(@Nullable Arg arg) {
        return arg != null && arg.value() >= 0 && arg.spec().shape().rank() == 2
                && !(arg.spec().layout() instanceof Layout.Opaque)
                && arg.spec().strides()[1] == 1 && arg.spec().strides()[0] >= arg.spec().shape().dim(1)
                && arg.spec().shape().size() >= Layouts.LEAST_MATRIX && values.spec(arg.value()) != null
                && values.constant(arg.value()) == null;
    }

    /** Groups uses by preferred layout. Keeps groups with enough uses during which no task writes the matrix. */
    private List<Group> groups(Source source, List<Use> uses) {
        Map<TensorSpec, List<Use>> byLayout = new LinkedHashMap<>();
        for (Use use : uses) {
            Stage stage = tasks.compute(use.task()).stages().get(use.stage());
            wanted(stage).ifPresent(wanted -> byLayout.computeIfAbsent(wanted, _ -> new ArrayList<>()).add(use));
        }
        List<Group> groups = new ArrayList<>();
        byLayout.forEach((wanted, own) -> {
            if (own.size() >= LEAST_USES
                    && !tasks.writers(source.matrix().value()).isAnyIn(own.getFirst().task(), own.getLast().task())) {
                String name = values.name(source.matrix().value())
                        + (source.transposed() ? "_packed_transposed" : "_packed");
                groups.add(new Group(source, values.add(name, wanted), wanted, own));
            }
        });
        return groups;
    }

    private Optional<TensorSpec> wanted(Stage stage) {
        MatMul product = plain((MatMul) Objects.requireNonNull(stage.computation()));
        TensorSpec[] specs = stage.specs();
        specs[WEIGHTS] = source(stage);
        return answers.computeIfAbsent(new Question(product, Arrays.asList(specs.clone())), _ -> {
            Kernel given = kernels.find(product, Place.CPU, specs);
            if (given == null) {
                return Optional.empty();
            }
            TensorSpec wanted = given.preferred(WEIGHTS, specs[WEIGHTS]);
            if (!(wanted.layout() instanceof Layout.Opaque)) {
                return Optional.empty();
            }
            specs[WEIGHTS] = wanted;
            Kernel packed = kernels.find(product, Place.CPU, specs);
            return Optional.of(wanted).filter(_ -> packed != null && packed.provider().equals(given.provider()));
        });
    }

    /** Returns the product of an operand that is already transposed. */
    private static MatMul plain(MatMul product) {
        return new MatMul(product.transposeX(), false, product.bias(), product.postOps());
    }

    /** Returns the matrix as the product reads it. */
    private static TensorSpec source(Stage stage) {
        TensorSpec spec = Objects.requireNonNull(stage.inputs().get(WEIGHTS)).spec();
        boolean transposed = Objects.requireNonNull((MatMul) stage.computation()).transposeY();
        Shape shape = spec.shape();
        return transposed
                ? new TensorSpec(spec.dtype(), Shape.of(shape.dim(1), shape.dim(0)),
                        Layout.strided(1, spec.strides()[0]))
                : spec;
    }

    private static Task.Compute packing(Task.Compute first, Group group) {
        Stage reader = first.stages().get(group.uses().getFirst().stage());
        Arg matrix = group.source().matrix();
        Stage copy = Stage.of(reader.access(), Copy.PLAIN,
                List.of(new Arg(matrix.source(), matrix.offset(), source(reader))),
                new Arg(new Arg.Value(group.packed()), 0, group.wanted()));
        return Task.Compute.ofStages(List.of(reader.access()), List.of(copy), List.of(), first.place());
    }

    private static Task reading(int index, Task.Compute task, Map<Use, Group> groups) {
        List<Stage> stages = new ArrayList<>(task.stages());
        boolean changed = false;
        for (int j = 0; j < stages.size(); j++) {
            Group group = groups.get(new Use(index, j));
            if (group != null) {
                Stage stage = stages.get(j);
                List<@Nullable Arg> inputs = new ArrayList<>(stage.inputs());
                inputs.set(WEIGHTS, new Arg(new Arg.Value(group.packed()), 0, group.wanted()));
                MatMul product = (MatMul) Objects.requireNonNull(stage.computation());
                stages.set(j, new Stage(stage.access(), new Step.Work.Compute(plain(product)), inputs, stage.outputs(),
                        null));
                changed = true;
            }
        }
        if (!changed) {
            return task;
        }
        Task.Compute read = Task.Compute.ofStages(task.operations(), stages, task.temporaries(), task.place());
        return new Task.Compute(task.operations(), stages, task.temporaries(), task.place(), read.reads(),
                task.writes());
    }
}
