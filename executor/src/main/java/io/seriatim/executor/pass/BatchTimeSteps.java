package io.seriatim.executor.pass;

import io.seriatim.executor.ir.Access;
import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.PassName;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.TaskGraph;
import io.seriatim.executor.ir.TaskSet;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.kernel.Computation;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Batches the small matrix products of the time steps of recurrent networks into one product.
 *
 * <p>
 * The gradient of a weight that every step uses is a sum of products, xᵀ₁g₁ + xᵀ₂g₂ + …, which equals one product of
 * the concatenated x and the concatenated g. In the same way, the sum of the gradients of a bias is one sum of all
 * rows. The products of steps with the same weights, if no step depends on the result of another, are one product of
 * all rows, whose parts are the results. No element is copied: values that are already contiguous, such as the steps of
 * a sequence, stay where they are, and temporary values become parts of a larger value ({@link TimeStepGroups}).
 *
 * <p>
 * The batched product runs at the position of the sum, or at the position of the first or the last product. This
 * requires that between that position and each product, no task writes the operands or accesses the results. The order
 * of summation differs from that of the program; in most cases it is more accurate.
 */
final class BatchTimeSteps {
    /** This pass, as {@link PassPipeline} runs it. */
    static final RewritePass PASS = RewritePass.onHost(PassName.STACKING, (tasks, _) -> rewrite(tasks));

    private static final int FEWEST = 4;
    /** A product of more rows uses the processor fully by itself, and batching would only delay it. */
    private static final long MOST_ROWS = 256;

    private final TaskGraph tasks;
    private final ValueTable values;
    /** The position of each task after rewriting: its own, unless it has become part of another task. */
    private final int[] positions;
    private final TimeStepGroups stacks;
    private final List<Group> groups = new ArrayList<>();
    private final List<Stacked> found = new ArrayList<>();
    private final Map<Integer, AddPattern> sums = new LinkedHashMap<>();
    private final Map<Integer, List<Task>> made = new HashMap<>();

    /**
     * A product or a sum of rows of one time step.
     *
     * @param task
     *            the index of the task
     * @param columns
     *            the operands that are to be contiguous with those of the other steps
     */
    private record Leaf(int task, List<Arg> columns) {
    }

    /** Leaves that may be batched. {@code sum} is the task that sums their results, or −1. */
    private record Group(int sum, List<Leaf> leaves) {
    }

    /** Leaves that are batched, and the position of the batched task. */
    private record Stacked(int sum, List<Leaf> leaves, int position) {
    }

    /** The properties that leaves must have in common to be batched. */
    private record Kind(int sum, List<Object> same) {
    }

    private BatchTimeSteps(TaskGraph tasks) {
        this.tasks = tasks;
        this.values = tasks.values();
        this.positions = new int[tasks.size()];
        this.stacks = new TimeStepGroups(tasks);
        Arrays.setAll(positions, i -> i);
    }

    private static void rewrite(TaskGraph tasks) {
        BatchTimeSteps stacking = new BatchTimeSteps(tasks);
        stacking.find();
        if (!stacking.groups.isEmpty()) {
            stacking.stack();
        }
        if (!stacking.found.isEmpty()) {
            tasks.replaceAll(stacking.rewritten());
        }
    }

    private void find() {
        Map<Kind, List<Group>> kinds = new LinkedHashMap<>();
        for (int i = 0; i < tasks.size(); i++) {
            if (tasks.get(i) instanceof Task.Compute task && !task.stages().isEmpty() && task.isPure()) {
                AddPattern addition = task.stages().size() < FEWEST - 1 ? null : AddPattern.of(task);
                if (addition != null) {
                    sums.put(i, addition);
                    for (Arg addend : addition.addends()) {
                        gradient(i, addition, addend, kinds);
                    }
                }
                product(i, task, kinds);
            }
        }
        kinds.values()
                .forEach(each -> each.stream().filter(group -> group.leaves().size() >= FEWEST).forEach(groups::add));
    }

    /** Adds an addend of a sum to the groups if it is the gradient of a weight or a bias in one step. */
    private void gradient(int sum, AddPattern addition, Arg addend, Map<Kind, List<Group>> kinds) {
        int value = addend.value();
        if (value < 0 || !tasks.isTemporaryOfOne(value)
                || tasks.readers(value).size() != 1
                || addition.addends().stream().filter(other -> other.value() == value).count() != 1) {
            return;
        }
        int index = tasks.writers(value).first();
        if (!(tasks.get(index) instanceof Task.Compute task) || task.stages().size() != 1 || !task.isPure()
                || !task.placeRequest().equals(tasks.compute(sum).placeRequest())) {
            return;
        }
        Stage stage = task.stages().getFirst();
        List<Arg> columns = switch (stage.computation()) {
            case MatMul product when product.transposeX() && !product.transposeY() && isPlain(product) -> given(stage);
            case Reduction rows when rows.function() == Reduction.Function.SUM && rows.axes().equals(List.of(0)) ->
                given(stage);
            case null, default -> List.of();
        };
        Arg out = stage.onlyOutput();
        if (!columns.isEmpty() && out != null && out.value() == value && out.spec().isRowMajor() && isAll(out)
                && isAll(addend)) {
            add(new Leaf(index, columns), sum, List.of(Objects.requireNonNull(stage.computation())), kinds);
        }
    }

    /** Adds a product of a few rows to the groups; others may multiply their rows with the same weights. */
    private void product(int index, Task.Compute task, Map<Kind, List<Group>> kinds) {
        if (task.stages().size() != 1 || !(task.stages().getFirst().computation() instanceof MatMul product)
                || product.transposeX()
                || !isPlain(product)) {
            return;
        }
        Stage stage = task.stages().getFirst();
        Arg out = stage.onlyOutput();
        List<Arg> in = given(stage);
        if (in.size() == 2 && out != null && out.value() >= 0 && tasks.writers(out.value()).size() == 1) {
            add(new Leaf(index, List.of(in.getFirst(), out)), -1, List.of(product, in.getLast(), task.placeRequest()),
                    kinds);
        }
    }

    private static boolean isPlain(MatMul product) {
        return !product.bias() && product.postOps().isEmpty();
    }

    private boolean isAll(Arg arg) {
        TensorSpec spec = values.spec(arg.value());
        return spec != null && spec.bytes() == arg.spec().bytes();
    }

    /** Returns the inputs of a stage if all are values, else an empty list. */
    private static List<Arg> given(Stage stage) {
        List<Arg> given = new ArrayList<>(2);
        for (Arg arg : stage.inputs()) {
            if (arg == null || arg.value() < 0) {
                return List.of();
            }
            given.add(arg);
        }
        return given;
    }

    private void add(Leaf leaf, int sum, List<Object> more, Map<Kind, List<Group>> kinds) {
        List<Object> same = new ArrayList<>(more);
        for (Arg arg : leaf.columns()) {
            TimeStepGroups.Where where = arg.spec().shape().rank() == 2 && arg.spec().dtype().isFloating()
                    ? stacks.where(arg)
                    : null;
            if (where == null || arg.spec().shape().dim(0) > MOST_ROWS || arg.spec().bytes() == 0) {
                return;
            }
            same.add(arg.spec());
            same.add(where.base() == null ? "anywhere" : where.base());
        }
        List<Group> alike = kinds.computeIfAbsent(new Kind(sum, same), _ -> new ArrayList<>(1));
        // A group contains an operand once: the second use of a step's input is grouped with the second uses of others.
        int nth = (int) alike.stream()
                .takeWhile(group -> group.leaves().reversed().stream().anyMatch(other -> isShared(leaf, other)))
                .count();
        if (nth == alike.size()) {
            alike.add(new Group(sum, new ArrayList<>()));
        }
        alike.get(nth).leaves().add(leaf);
    }

    private static boolean isShared(Leaf leaf, Leaf other) {
        for (int i = 0; i < leaf.columns().size(); i++) {
            if (leaf.columns().get(i).equals(other.columns().get(i))) {
                return true;
            }
        }
        return false;
    }

    /**
     * Batches groups in ascending order of freedom: a group whose order is fixed also orders operands shared with
     * others.
     */
    private void stack() {
        List<Group> left = new ArrayList<>(groups);
        while (!left.isEmpty()) {
            Group next = left.stream().min(Comparator.comparingInt(this::freedom)).orElseThrow();
            left.remove(next);
            // Moving values only to batch sums of rows does not pay off.
            if (next.leaves().getFirst().columns().size() > 1 || freedom(next) == 0) {
                stack(next);
            }
        }
    }

    private int freedom(Group group) {
        int least = 2;
        for (int column = 0; column < group.leaves().getFirst().columns().size(); column++) {
            long known = operands(group.leaves(), column).stream().filter(arg -> where(arg).base() != null).count();
            least = Math.min(least, known == group.leaves().size() ? 0 : known > 0 ? 1 : 2);
        }
        return least;
    }

    private TimeStepGroups.Where where(Arg arg) {
        return Objects.requireNonNull(stacks.where(arg));
    }

    private static List<Arg> operands(List<Leaf> leaves, int column) {
        return leaves.stream().map(leaf -> leaf.columns().get(column)).toList();
    }

    private static List<List<Arg>> columns(List<Leaf> leaves) {
        List<List<Arg>> columns = new ArrayList<>();
        for (int i = 0; i < leaves.getFirst().columns().size(); i++) {
            columns.add(operands(leaves, i));
        }
        return columns;
    }

    private void stack(Group group) {
        List<Leaf> leaves = group.sum() < 0
                ? group.leaves()
                : group.leaves().stream().filter(leaf -> isReadable(leaf, group.sum())).toList();
        if (leaves.size() < FEWEST) {
            return;
        }
        for (List<Leaf> run : runs(ordered(leaves))) {
            List<Leaf> order = stacks.fit(columns(run)) ? run : run.reversed();
            if (run.size() >= FEWEST && stacks.fit(columns(order))) {
                int position = group.sum() < 0 ? position(run) : group.sum();
                if (position >= 0) {
                    columns(order).forEach(stacks::put);
                    order.forEach(leaf -> positions[leaf.task()] = position);
                    found.add(new Stacked(group.sum(), order, position));
                }
            }
        }
    }

    private boolean isReadable(Leaf leaf, int position) {
        return Arrays.stream(task(leaf).reads())
                .noneMatch(value -> isAnyBetween(tasks.writers(value), leaf.task(), position));
    }

    /**
     * Returns whether the new position of another task of a set is between the position of a task and another position.
     */
    private boolean isAnyBetween(TaskSet others, int task, int position) {
        int from = Math.min(positions[task], position);
        int to = Math.max(positions[task], position);
        return others.stream().anyMatch(other -> other != task && positions[other] >= from && positions[other] <= to);
    }

    private boolean isUntouchedBetween(int value, int task, int position) {
        return !isAnyBetween(tasks.writers(value), task, position)
                && !isAnyBetween(tasks.readers(value), task, position);
    }

    /**
     * Returns the position at which all products may be computed: that of the first or of the last of them; −1 if
     * neither is possible.
     */
    private int position(List<Leaf> leaves) {
        int[] stand = leaves.stream().mapToInt(leaf -> positions[leaf.task()]).sorted().toArray();
        for (int position : new int[]{stand[0], stand[stand.length - 1]}) {
            if (leaves.stream().allMatch(leaf -> isReadable(leaf, position)
                    && isUntouchedBetween(leaf.columns().getLast().value(), leaf.task(), position))) {
                return position;
            }
        }
        return -1;
    }

    /** Returns leaves in memory order if an operand of all of them already has a place; otherwise in program order. */
    private List<Leaf> ordered(List<Leaf> leaves) {
        for (int i = 0; i < leaves.getFirst().columns().size(); i++) {
            int column = i;
            if (operands(leaves, column).stream().map(arg -> Objects.requireNonNullElse(where(arg).base(), arg))
                    .distinct().count() == 1) {
                return leaves.stream()
                        .sorted(Comparator.comparingLong(leaf -> where(leaf.columns().get(column)).offset())).toList();
            }
        }
        return leaves.stream().sorted(Comparator.comparingInt(this::computed)).toList();
    }

    /** Returns the position of the task that computes the first operand. */
    private int computed(Leaf leaf) {
        TaskSet writers = tasks.writers(leaf.columns().getFirst().value());
        return writers.isEmpty() ? -1 : positions[writers.first()];
    }

    /** Splits ordered leaves into runs whose operands with a known place are contiguous. */
    private List<List<Leaf>> runs(List<Leaf> leaves) {
        List<List<Leaf>> runs = new ArrayList<>();
        int from = 0;
        for (int i = 1; i <= leaves.size(); i++) {
            if (i == leaves.size() || isGap(leaves.get(i - 1), leaves.get(i))) {
                runs.add(leaves.subList(from, i));
                from = i;
            }
        }
        return runs;
    }

    private boolean isGap(Leaf one, Leaf next) {
        for (int i = 0; i < one.columns().size(); i++) {
            TimeStepGroups.Where before = where(one.columns().get(i));
            TimeStepGroups.Where behind = where(next.columns().get(i));
            boolean known = before.base() != null && behind.base() != null;
            if (known && (!Objects.equals(before.base(), behind.base())
                    || Math.abs(behind.offset() - before.offset()) != one.columns().get(i).spec().bytes())) {
                return true;
            }
        }
        return false;
    }

    private Task.Compute task(Leaf leaf) {
        return tasks.compute(leaf.task());
    }

    private List<Task> rewritten() {
        stacks.finish();
        Map<Integer, List<Stacked>> added = new LinkedHashMap<>();
        for (Stacked each : found) {
            if (each.sum() < 0) {
                make(each.position(), task(each, List.of(), stacks.whole(operands(each.leaves(), 1))));
            } else {
                added.computeIfAbsent(each.sum(), _ -> new ArrayList<>()).add(each);
            }
        }
        added.forEach(this::add);
        found.forEach(each -> each.leaves().forEach(leaf -> tasks.remove(leaf.task())));
        List<Task> all = new ArrayList<>(tasks.size());
        for (int i = 0; i < tasks.size(); i++) {
            all.addAll(made.getOrDefault(i, List.of()));
            Task task = tasks.get(i);
            if (task != null) {
                all.add(stacks.moved(task));
            }
        }
        return all;
    }

    private void make(int position, Task task) {
        made.computeIfAbsent(position, _ -> new ArrayList<>(1)).add(task);
    }

    /** Rewrites a sum: the remaining addends, and the results of the batched tasks. */
    private void add(int index, List<Stacked> parts) {
        AddPattern addition = Objects.requireNonNull(sums.get(index));
        Task.Compute task = tasks.compute(index);
        Set<Integer> gone = new HashSet<>();
        parts.forEach(part -> part.leaves().forEach(leaf -> Arrays.stream(task(leaf).writes()).forEach(gone::add)));
        List<Arg> addends = new ArrayList<>(
                addition.addends().stream().filter(arg -> !gone.contains(arg.value())).toList());
        Arg sum = addition.sum();
        if (addends.isEmpty() && parts.size() == 1) {
            make(index, task(parts.getFirst(), task.operations(), stacks.moved(sum)));
            tasks.remove(index);
            return;
        }
        for (Stacked part : parts) {
            int value = values.add(values.name(sum.value()) + "_stacked", sum.spec());
            addends.add(new Arg(new Arg.Value(value), 0, sum.spec()));
            make(index, task(part, List.of(), addends.getLast()));
        }
        tasks.put(index, addition.of(task, addends));
    }

    private Task.Compute task(Stacked stacked, List<Access> last, Arg target) {
        List<Access> operations = new ArrayList<>();
        stacked.leaves().stream().sorted(Comparator.comparingInt(Leaf::task))
                .forEach(leaf -> operations.addAll(task(leaf).operations()));
        operations.addAll(last);
        Stage one = task(stacked.leaves().getFirst()).stages().getFirst();
        List<@Nullable Arg> inputs = new ArrayList<>();
        inputs.add(stacks.whole(operands(stacked.leaves(), 0)));
        if (one.inputs().size() == 2) {
            Arg second = Objects.requireNonNull(one.inputs().getLast());
            inputs.add(stacked.sum() < 0 ? stacks.moved(second) : stacks.whole(operands(stacked.leaves(), 1)));
        }
        Arg result = Objects.requireNonNull(one.outputs().getFirst());
        Arg out = stacked.sum() < 0 ? target : new Arg(target.source(), target.offset(), result.spec());
        Computation computation = Objects.requireNonNull(one.computation());
        return Task.Compute.of(operations, List.of(Stage.of(operations.getLast(), computation, inputs, out)), List.of(),
                task(stacked.leaves().getFirst()).place());
    }
}
