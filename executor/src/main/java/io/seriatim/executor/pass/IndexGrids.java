package io.seriatim.executor.pass;

import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.TaskGraph;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Fill;
import io.seriatim.tensor.computation.Range;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Finds the indexes of a plan that grow evenly, from the tasks that compute them and without computing them. */
final class IndexGrids {
    /** Of a constant that is looked at. */
    private static final long MOST_ELEMENTS = 1L << 20;
    /** How many tasks one after the other are looked at. */
    private static final int MOST_TASKS = 64;
    /** Numbers are compared up to this size. */
    private static final long EXACT = 1L << 52;

    private final TaskGraph tasks;
    private final ValueTable values;
    private final Map<Integer, Optional<IndexGrid>> known = new HashMap<>();
    private int depth;

    IndexGrids(TaskGraph tasks) {
        this.tasks = tasks;
        this.values = tasks.values();
    }

    /** Returns for each element along the last axis of an operand the grid of the others; null if one is unknown. */
    @Nullable
    List<IndexGrid> tuples(Arg index) {
        Shape shape = index.spec().shape();
        if (shape.rank() == 0 || shape.size() == 0) {
            return null;
        }
        List<IndexGrid> all = new ArrayList<>();
        for (long place = 0; place < shape.dim(-1); place++) {
            IndexGrid grid = component(index, place);
            if (grid == null) {
                return null;
            }
            all.add(grid);
        }
        return all;
    }

    /** Returns the grid of the elements of an operand; null if it is unknown. */
    private @Nullable IndexGrid grid(Arg arg) {
        if (!isWhole(arg.spec().dtype()) || arg.spec().shape().size() == 0) {
            return null;
        }
        Tensor constant = constant(arg);
        IndexGrid all = constant == null ? ofValue(arg.value()) : ofConstant(constant);
        return all == null
                ? null
                : all.view(arg.offset() / arg.spec().dtype().bytes(), arg.spec().shape(), arg.spec().strides());
    }

    private static boolean isWhole(DType dtype) {
        return dtype == DType.INT64 || dtype == DType.INT32 || dtype == DType.BOOL;
    }

    private @Nullable Tensor constant(Arg arg) {
        return switch (arg.source()) {
            case Arg.Constant(Tensor tensor) -> tensor;
            case Arg.Value(int value) -> values.constant(value);
            case Arg.Temporary _,Arg.Key _ -> null;
        };
    }

    private static @Nullable IndexGrid ofConstant(Tensor tensor) {
        return tensor.shape().size() > MOST_ELEMENTS || !tensor.spec().isRowMajor()
                ? null
                : IndexGrid.of(tensor.toLongArray(), tensor.shape());
    }

    private @Nullable IndexGrid ofValue(int value) {
        if (value < 0) {
            return null;
        }
        Optional<IndexGrid> found = known.get(value);
        if (found == null) {
            Stage writer = depth < MOST_TASKS ? writer(value) : null;
            depth++;
            found = Optional.ofNullable(writer == null ? null : stored(computed(writer), dtype(writer)));
            depth--;
            known.put(value, found);
        }
        return found.orElse(null);
    }

    /** Returns the stage that writes all of a value; null if there are several or none. */
    private @Nullable Stage writer(int value) {
        List<Stage> writers = writers(value);
        Stage only = writers.size() == 1 ? writers.getFirst() : null;
        Arg out = only == null ? null : only.onlyOutput();
        return out != null && out.isAll(values) ? only : null;
    }

    /** Returns the stages that write a value; none if others may write its memory. */
    private List<Stage> writers(int value) {
        List<Stage> writers = new ArrayList<>();
        if (!values.isSeparate(value)) {
            return writers;
        }
        for (int index : tasks.writers(value).toArray()) {
            if (!(tasks.get(index) instanceof Task.Compute task)) {
                return List.of();
            }
            for (Stage stage : task.stages()) {
                if (stage.outputs().stream().anyMatch(out -> out != null && out.value() == value)) {
                    writers.add(stage);
                }
            }
        }
        return writers;
    }

    private @Nullable IndexGrid computed(Stage stage) {
        Shape shape = Objects.requireNonNull(stage.onlyOutput()).spec().shape();
        return switch (stage.computation()) {
            case Range(double start, double step) when start == (long) start && step == (long) step ->
                IndexGrid.range((long) start, (long) step, shape);
            case Fill(double number) when number == (long) number -> IndexGrid.range((long) number, 0, shape);
            case Copy _ -> expanded(grid(input(stage, 0)), shape);
            case Binary binary -> combined(binary, expanded(grid(input(stage, 0)), shape),
                    expanded(grid(input(stage, 1)), shape));
            case null, default -> null;
        };
    }

    private static DType dtype(Stage stage) {
        return Objects.requireNonNull(stage.onlyOutput()).spec().dtype();
    }

    /** Returns a grid as it is stored in a type; null if the type cannot hold its elements, which then change. */
    private static @Nullable IndexGrid stored(@Nullable IndexGrid grid, DType dtype) {
        boolean holds = grid != null && switch (dtype) {
            case INT64 -> true;
            case INT32 -> grid.isWithin(Integer.MIN_VALUE, Integer.MAX_VALUE);
            case BOOL -> grid.isWithin(0, 1);
            default -> false;
        };
        return holds ? grid : null;
    }

    private static Arg input(Stage stage, int index) {
        return Objects.requireNonNull(stage.inputs().get(index));
    }

    private static @Nullable IndexGrid expanded(@Nullable IndexGrid grid, Shape shape) {
        return grid == null ? null : grid.expand(shape);
    }

    private static @Nullable IndexGrid combined(Binary binary, @Nullable IndexGrid x, @Nullable IndexGrid y) {
        if (binary.function() == Binary.Function.MULTIPLY) {
            // A product with 0 is known even if the other factor is not.
            IndexGrid factor = x != null && x.isConstant() ? x : y;
            IndexGrid other = Objects.equals(factor, x) ? y : x;
            if (factor == null || !factor.isConstant() || (other == null && factor.base() != 0)) {
                return null;
            }
            IndexGrid zero = factor.plus(factor, -1);
            return other == null ? zero : zero.plus(other, factor.base());
        }
        if (x == null || y == null) {
            return null;
        }
        return switch (binary.function()) {
            case ADD -> x.plus(y, 1);
            case SUBTRACT -> x.plus(y, -1);
            case LESS -> x.isWithin(-EXACT, EXACT) && y.isWithin(-EXACT, EXACT)
                    && (x.isBelow(y) || x.isNotBelow(y)) ? IndexGrid.range(x.isBelow(y) ? 1 : 0, 0, x.shape()) : null;
            default -> null;
        };
    }

    /** Returns the grid of the elements of an operand at a place on its last axis; null if it is unknown. */
    private @Nullable IndexGrid component(Arg arg, long place) {
        int value = arg.value();
        if (constant(arg) != null || value < 0 || !arg.isAll(values) || !isWhole(arg.spec().dtype())) {
            IndexGrid grid = grid(arg);
            return grid == null ? ofTuples(arg, place) : grid.select(place);
        }
        List<Stage> writers = writers(value);
        Stage writer = writers.size() == 1 ? writers.getFirst() : null;
        Arg out = writer == null ? null : writer.onlyOutput();
        if (writer != null && writer.computation() instanceof Binary binary && out != null && out.isAll(values)
                && depth < MOST_TASKS) {
            depth++;
            IndexGrid x = operand(input(writer, 0), place, arg.spec().shape());
            IndexGrid y = operand(input(writer, 1), place, arg.spec().shape());
            depth--;
            return stored(combined(binary, x, y), arg.spec().dtype());
        }
        IndexGrid whole = grid(arg);
        return whole != null ? whole.select(place) : ofParts(writers, arg.spec(), place);
    }

    /** Returns the grid of a constant whose tuples are not one grid. */
    private @Nullable IndexGrid ofTuples(Arg arg, long place) {
        Tensor constant = constant(arg);
        Shape shape = arg.spec().shape();
        if (constant == null || !arg.spec().isRowMajor() || arg.offset() != 0 || !isWhole(arg.spec().dtype())
                || constant.shape().size() != shape.size() || shape.size() > MOST_ELEMENTS
                || !constant.spec().isRowMajor()) {
            return null;
        }
        long[] all = constant.toLongArray();
        long[] some = new long[Math.toIntExact(shape.size() / shape.dim(-1))];
        for (int i = 0; i < some.length; i++) {
            some[i] = all[Math.toIntExact(i * shape.dim(-1) + place)];
        }
        return IndexGrid.of(some, shape.slice(0, shape.rank() - 1));
    }

    /** Returns the grid of the operand of an elementwise function, as it is expanded to the function's result. */
    private @Nullable IndexGrid operand(Arg arg, long place, Shape result) {
        Shape shape = arg.spec().shape();
        boolean single = shape.rank() == 0 || shape.dim(-1) == 1;
        IndexGrid grid = single ? grid(arg) : component(arg, place);
        Shape others = result.slice(0, result.rank() - 1);
        if (grid == null || !single) {
            return expanded(grid, others);
        }
        return expanded(shape.rank() == 0 ? grid : grid.select(0), others);
    }

    /** Returns the grid at a place of a concatenation along the last axis. */
    private @Nullable IndexGrid ofParts(List<Stage> writers, TensorSpec whole, long place) {
        IndexGrid found = null;
        int last = whole.shape().rank() - 1;
        for (Stage stage : writers) {
            Arg out = stage.onlyOutput();
            long from = out == null ? -1 : out.offset() / whole.dtype().bytes();
            if (out == null || !SharedConcatenations.isAt(out, whole, last, from)) {
                return null;
            }
            if (place < from || place >= from + out.spec().shape().dim(last)) {
                continue;
            }
            if (found != null || !(stage.computation() instanceof Copy) || depth >= MOST_TASKS) {
                return null;
            }
            depth++;
            found = stored(operand(input(stage, 0), place - from, out.spec().shape()), whole.dtype());
            depth--;
            if (found == null) {
                return null;
            }
        }
        return found;
    }
}
