package io.seriatim.executor.pass;

import io.seriatim.executor.ir.Access;
import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.PassName;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.TaskGraph;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.Unary;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Computes the gates of a recurrent cell by separate products, if a program has one product for all of them, splits its
 * result by columns and applies a function to each part: f(x·W + h·U + b)[:, i…j] is f(x·W[:, i…j] + h·U[:, i…j] +
 * b[i…j]). The function then becomes an epilogue of the product, and neither the whole result nor a copy of its part is
 * written.
 *
 * <p>
 * It requires that only the split reads the sum, and only the sum reads its addends. Each element is the same sum as
 * before; kernels for fewer columns may sum in another order. The pass applies only to few rows, for which separate
 * products take hardly longer than one.
 */
final class SplitGateMatMul {
    /** This pass, as {@link PassPipeline} runs it. */
    static final RewritePass PASS = new RewritePass(PassName.GATES.name(),
            context -> context.isOnForHost(PassName.GATES) && context.isOn(PassName.EPILOGUES),
            (tasks, context) -> rewrite(tasks, context.mayLoseNaN()));

    /** The maximum number of rows. For more rows, the time of copies is negligible relative to the product. */
    private static final long MOST_ROWS = 256;
    private static final long LEAST_COLUMNS = 32;
    private static final Binary ADD = Binary.of(Binary.Function.ADD);

    private final ValueTable values;
    private final boolean mayLoseNaN;
    private final TaskGraph tasks;
    private final Map<Integer, List<Task>> parts = new HashMap<>();

    /** The columns of a sum that form a gate. */
    private record Gate(int split, long from, long columns, Arg out) {
    }

    private SplitGateMatMul(TaskGraph tasks, boolean mayLoseNaN) {
        this.values = tasks.values();
        this.mayLoseNaN = mayLoseNaN;
        this.tasks = tasks;
    }

    private static void rewrite(TaskGraph tasks, boolean mayLoseNaN) {
        SplitGateMatMul gates = new SplitGateMatMul(tasks, mayLoseNaN);
        for (int i = 0; i < tasks.size(); i++) {
            gates.divide(i);
        }
        if (gates.parts.isEmpty()) {
            return;
        }
        List<Task> all = new ArrayList<>();
        for (int i = 0; i < tasks.size(); i++) {
            List<Task> parts = gates.parts.get(i);
            all.addAll(parts != null ? parts : List.of(Objects.requireNonNull(tasks.get(i))));
        }
        tasks.replaceAll(all);
    }

    /** Splits the sum that a task completes, if all its readers are copies of columns. */
    private void divide(int last) {
        int[] written = Objects.requireNonNull(tasks.get(last)).writes();
        int whole = written.length == 1 ? written[0] : -1;
        List<Gate> gates = whole < 0 ? List.of() : gates(whole);
        List<Integer> sum = new ArrayList<>();
        if (gates.size() < 2 || !isSum(whole, last, sum)
                || gates.stream().anyMatch(
                        gate -> !isOfOnePlace(gate.split(), last))) {
            return;
        }
        sum.forEach(task -> parts.put(task, new ArrayList<>()));
        for (Gate gate : gates) {
            parts.put(gate.split(), List.of());
            Map<Integer, Arg> own = new HashMap<>();
            own.put(whole, gate.out());
            sum.forEach(task -> own.computeIfAbsent(tasks.compute(task).writes()[0], value -> added(value, gate)));
            sum.forEach(task -> Objects.requireNonNull(parts.get(task)).add(part(task, gate, own)));
        }
    }

    /** Returns whether two tasks request the same device and stream. */
    private boolean isOfOnePlace(int task, int other) {
        return tasks.compute(task).placeRequest().equals(tasks.compute(other).placeRequest());
    }

    /**
     * Returns the columns into which a value is split; empty if it has another use, or if the reader of a part is not
     * an elementwise function.
     */
    private List<Gate> gates(int value) {
        TensorSpec whole = values.spec(value);
        if (whole == null || !values.isTemporary(value) || whole.shape().rank() != 2 || !whole.dtype().isFloating()
                || whole.shape().dim(0) > MOST_ROWS) {
            return List.of();
        }
        List<Gate> gates = new ArrayList<>();
        for (int split : tasks.readers(value).toArray()) {
            // A result that no stage writes has no elements, but it still counts as a result of the task.
            if (!(tasks.get(split) instanceof Task.Compute task) || task.writes().length != task.stages().size()) {
                return List.of();
            }
            for (Stage stage : task.stages()) {
                Gate gate = gate(split, stage, value, whole);
                if (gate == null) {
                    return List.of();
                }
                gates.add(gate);
            }
        }
        return gates.stream().mapToLong(Gate::columns).sum() <= whole.shape().dim(1) ? gates : List.of();
    }

    private @Nullable Gate gate(int split, Stage stage, int value, TensorSpec whole) {
        Arg in = stage.inputs().size() == 1 ? stage.inputs().getFirst() : null;
        Arg out = stage.onlyOutput();
        if (!(stage.computation() instanceof Copy) || in == null || in.value() != value || out == null
                || !out.isWhole(values)
                || !tasks.isTemporaryOfOne(out.value()) || !out.spec().shape().equals(in.spec().shape())
                || out.spec().dtype() != whole.dtype() || !isApplied(out, split)) {
            return null;
        }
        long columns = out.spec().shape().dim(1);
        long from = in.offset() / whole.dtype().bytes();
        boolean cut = in.spec().equals(columns(whole, 1, columns)) && from + columns <= whole.shape().dim(1);
        return cut && columns >= LEAST_COLUMNS && out.spec().isRowMajor() ? new Gate(split, from, columns, out) : null;
    }

    /** Returns whether the only use of a part is a function that may become an epilogue of a product. */
    private boolean isApplied(Arg part, int from) {
        int only = tasks.readers(part.value()).first();
        return tasks.readers(part.value()).size() == 1 && tasks.get(only) instanceof Task.Compute reader
                && reader.stages().size() == 1
                && reader.stages().getFirst().computation() instanceof Unary unary
                && Epilogue.isApplied(unary, mayLoseNaN)
                && part.equals(reader.stages().getFirst().inputs().getFirst())
                && isOfOnePlace(only, from);
    }

    /**
     * Returns whether a task computes a product, or a sum of products that only this sum reads and of vectors that are
     * broadcast over the rows.
     *
     * @param found
     *            receives the tasks that compute the sum
     */
    private boolean isSum(int value, int writer, List<Integer> found) {
        if (tasks.writers(value).size() != 1 || found.contains(writer)
                || !(tasks.get(writer) instanceof Task.Compute task)
                || task.stages().size() != 1 || task.writes().length != 1 || !task.isPure()) {
            return false;
        }
        Stage stage = task.stages().getFirst();
        Arg out = stage.outputs().getFirst();
        if (out == null || !out.isWhole(values) || !out.spec().isRowMajor()) {
            return false;
        }
        found.add(writer);
        return switch (stage.computation()) {
            case MatMul product -> isDivisible(product, stage);
            case Binary add when add.equals(ADD) -> stage.inputs().stream()
                    .allMatch(in -> in != null
                            && (isAddend(in, out) ? isPartSum(in.value(), writer, found) : isRow(in, out)));
            case null, default -> false;
        };
    }

    private boolean isPartSum(int value, int reader, List<Integer> found) {
        int writer = tasks.writers(value).atOrBefore(reader - 1);
        return writer >= 0 && tasks.readers(value).isOnly(reader) && isSum(value, writer, found)
                && isOfOnePlace(writer, reader);
    }

    private static boolean isDivisible(MatMul product, Stage stage) {
        Arg x = stage.inputs().getFirst();
        Arg y = stage.inputs().get(1);
        return !product.bias() && product.postOps().isEmpty() && x != null && y != null && x.spec().shape().rank() == 2
                && y.spec().shape().rank() == 2 && !(y.spec().layout() instanceof Layout.Opaque);
    }

    private static boolean isRow(Arg in, Arg out) {
        Shape shape = in.spec().shape();
        return in.value() >= 0 && shape.rank() > 0 && shape.rank() <= 2 && shape.dim(-1) == out.spec().shape().dim(1)
                && shape.size() == shape.dim(-1) && in.spec().isRowMajor() && in.spec().dtype() == out.spec().dtype();
    }

    private boolean isAddend(Arg in, Arg out) {
        return in.isWhole(values) && in.spec().equals(out.spec()) && values.isTemporary(in.value());
    }

    /** Adds a value for the columns of an addend. */
    private Arg added(int value, Gate gate) {
        TensorSpec spec = gate.out().spec();
        return new Arg(new Arg.Value(values.add(values.name(value) + "_columns_" + gate.from(), spec)), 0, spec);
    }

    /** Returns a task of a sum, restricted to the columns of a gate. */
    private Task.Compute part(int index, Gate gate, Map<Integer, Arg> own) {
        Task.Compute task = tasks.compute(index);
        Stage stage = task.stages().getFirst();
        List<@Nullable Arg> inputs = new ArrayList<>();
        for (Arg in : stage.inputs()) {
            Arg whole = Objects.requireNonNull(in);
            Arg part = own.get(whole.value());
            if (stage.computation() instanceof MatMul product) {
                inputs.add(inputs.isEmpty() ? whole : columns(whole, product.transposeY() ? 0 : 1, gate));
            } else {
                inputs.add(part != null ? part : columns(whole, whole.spec().shape().rank() - 1, gate));
            }
        }
        List<Access> operations = new ArrayList<>(task.operations());
        Arg out = Objects.requireNonNull(own.get(task.writes()[0]));
        if (out.equals(gate.out())) {
            operations.addAll(tasks.compute(gate.split()).operations());
        }
        return Task.Compute.ofStages(operations,
                List.of(new Stage(stage.access(), stage.work(), inputs, List.of(out), null)), List.of(),
                task.place());
    }

    private static Arg columns(Arg arg, int axis, Gate gate) {
        return new Arg(arg.source(),
                arg.offset() + gate.from() * arg.spec().strides()[axis] * arg.spec().dtype().bytes(),
                columns(arg.spec(), axis, gate.columns()));
    }

    private static TensorSpec columns(TensorSpec spec, int axis, long columns) {
        long[] dims = spec.shape().dims();
        dims[axis] = columns;
        return new TensorSpec(spec.dtype(), Shape.of(dims), Layout.strided(spec.strides()));
    }
}
