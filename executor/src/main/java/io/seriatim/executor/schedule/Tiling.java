package io.seriatim.executor.schedule;

import io.seriatim.executor.ir.Access;
import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.Options;
import io.seriatim.executor.ir.Region;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.NoKernelException;
import io.seriatim.tensor.kernel.PreparedKernels;
import io.seriatim.tensor.kernel.Split;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Makes several tasks of one that is large, so that threads may work on it side by side: each computes a part of the
 * result from views of the same operands. What reads a part of the result in turn waits only for the part that wrote
 * it, so that a chain of layers falls apart into chains of their rows, with no meeting between.
 *
 * <p>
 * What follows a task that has been split is split in the same way, even if it is small: each part goes on where one
 * part has ended, and a recurrence becomes several, of some rows each.
 *
 * <p>
 * What is split depends on shapes and the number of threads only, never on time. A computation says itself how its
 * parts give what the whole gives ({@link Computation#splits}); the kernels of the parts must be of the provider of the
 * whole's. Of each two parts, what one writes must surely lie apart from all that the other touches, and what is
 * written must have memory before the run: it lies in an arena or outlives runs. Parts of what outlives the run
 * {@linkplain #together belong together}: once one of them has run, the others do too, even if the run fails.
 */
public final class Tiling {
    /**
     * What a part must cost at least, as {@link CriticalPaths} counts: some 4 µs, since what fits into caches takes a
     * third of what is counted.
     */
    private static final long LEAST_PART = 130_000;
    /**
     * What a part must cost at least that goes on with what another part has done, on the same thread at best: about
     * half a µs.
     */
    private static final long LEAST_FOLLOWER = 16_000;
    /** Columns are cut where a line of the cache begins. */
    private static final int LINE = 16;

    private final ValueTable values;
    private final PreparedKernels kernels;
    private final int threads;
    private final long least;
    private final boolean[] isSplittable;
    private final Tiles pieces;

    private Tiling(List<Task> tasks, ValueTable values, PreparedKernels kernels, int threads, long least) {
        this.values = values;
        this.kernels = kernels;
        this.threads = threads;
        this.least = least;
        this.isSplittable = splittable(tasks, values);
        this.pieces = new Tiles(values);
    }

    /** All on the host. */
    public static List<Task> of(List<Task> tasks, ValueTable values, Options options, PreparedKernels kernels) {
        Tiling partition = new Tiling(tasks, values, kernels, options.threads(), options.eager() ? 1 : LEAST_PART);
        List<Task> all = new ArrayList<>(tasks.size());
        for (Task task : tasks) {
            List<Stage> parts = task instanceof Task.Compute compute ? partition.parts(compute) : List.of();
            if (parts.isEmpty()) {
                partition.pieces.whole(task);
                all.add(task);
            } else {
                partition.pieces.parts(parts);
                Task.Compute whole = (Task.Compute) task;
                parts.forEach(part -> all
                        .add(new Task.Compute(whole.operations(), List.of(part), whole.temporaries(), whole.place(),
                                whole.reads(), whole.writes())));
            }
        }
        return all;
    }

    /**
     * For each task the first of those beside one another that change parts of one value that outlives the run: itself
     * if there are no others.
     */
    public static int[] together(List<Task> tasks, ValueTable values) {
        int[] first = new int[tasks.size()];
        for (int i = 0; i < first.length; i++) {
            first[i] = i > 0 && isTogether(tasks.get(i - 1), tasks.get(i), values) ? first[i - 1] : i;
        }
        return first;
    }

    private static boolean isTogether(Task one, Task other, ValueTable values) {
        return one instanceof Task.Compute first && other instanceof Task.Compute second
                && !first.operations().isEmpty()
                && first.operations().equals(second.operations()) && Arrays.equals(first.writes(), second.writes())
                && Arrays.stream(first.writes())
                        .anyMatch(value -> values.origin(values.memory(value)) != ValueNumbering.Origin.COMPUTED);
    }

    /** By the value whose memory it is. */
    private static boolean[] splittable(List<Task> tasks, ValueTable values) {
        boolean[] splittable = new boolean[values.size()];
        for (int i = 0; i < splittable.length; i++) {
            splittable[i] = values.spec(i) != null && values.constant(i) == null
                    && (values.origin(i) != ValueNumbering.Origin.COMPUTED || !values.isPersistable(i));
        }
        for (int i = 0; i < splittable.length; i++) {
            if (values.isWanted(i) || values.spec(i) == null) {
                splittable[values.memory(i)] &= values.origin(values.memory(i)) != ValueNumbering.Origin.COMPUTED;
            }
        }
        for (Task task : tasks) {
            if (task instanceof Task.Interpreted) {
                for (int value : task.writes()) {
                    splittable[values.memory(value)] = false;
                }
            }
        }
        return splittable;
    }

    private List<Stage> parts(Task.Compute task) {
        if (task.stages().size() != 1 || !isPure(task)) {
            return List.of();
        }
        Stage stage = task.stages().getFirst();
        Computation computation = stage.computation();
        Kernel kernel = stage.kernel();
        long cost = CriticalPaths.cost(stage);
        if (computation == null || kernel == null || cost < 2 * Math.min(least, LEAST_FOLLOWER)
                || !areSplittable(task.writes())
                || stage.args().stream().anyMatch(arg -> arg != null && arg.source() instanceof Arg.Key)) {
            return List.of();
        }
        TensorSpec[] specs = stage.specs();
        for (Split split : computation.splits(specs)) {
            int count = (int) Math.min(Math.min(threads, cost / least), split.length(specs) / split.least());
            List<Stage> parts = count < 2 ? List.of() : parts(stage, computation, kernel, split, count);
            if (!parts.isEmpty() && areApart(parts)) {
                return parts;
            }
        }
        return following(stage, computation, kernel, cost);
    }

    /**
     * Parts of what is small, each of which goes on with what one part of a task before has left: no part waits for
     * more than the whole would.
     */
    private List<Stage> following(Stage stage, Computation computation, Kernel kernel, long cost) {
        TensorSpec[] specs = stage.specs();
        for (Split split : computation.splits(specs)) {
            for (int i = 0; i < stage.inputs().size(); i++) {
                int input = i;
                Arg arg = stage.inputs().get(i);
                int count = arg == null || split.axes().get(i) == Split.WHOLE ? 1 : pieces.count(arg);
                if (arg == null || count < 2 || cost / LEAST_FOLLOWER < count
                        || split.length(specs) / split.least() < count) {
                    continue;
                }
                List<Stage> parts = parts(stage, computation, kernel, split, count);
                if (!parts.isEmpty() && areApart(parts)
                        && pieces.areAlike(arg, parts.stream()
                                .map(part -> Objects.requireNonNull(part.inputs().get(input))).toList())) {
                    return parts;
                }
            }
        }
        return List.of();
    }

    private static boolean isPure(Task.Compute task) {
        for (Access access : task.operations()) {
            Operation schema = Operations.system().find(access.op().type());
            if (schema == null || !schema.effects().isEmpty()) {
                return false;
            }
        }
        return true;
    }

    private boolean areSplittable(int[] written) {
        return written.length > 0 && Arrays.stream(written).allMatch(value -> isSplittable[values.memory(value)]);
    }

    /** None if there are no such views, or kernels of another provider for them. */
    private List<Stage> parts(Stage stage, Computation computation, Kernel kernel, Split split, int count) {
        List<@Nullable Arg> args = stage.args();
        long length = split.length(stage.specs());
        long unit = unit(args, split, length / count);
        List<Stage> parts = new ArrayList<>(count);
        for (int part = 0; part < count; part++) {
            long from = part * length / count / unit * unit;
            long to = part == count - 1 ? length : (part + 1) * length / count / unit * unit;
            List<@Nullable Arg> views = new ArrayList<>(args.size());
            for (int i = 0; i < args.size(); i++) {
                Arg arg = args.get(i);
                int axis = split.axes().get(i);
                if (arg == null || axis == Split.WHOLE) {
                    views.add(arg);
                } else if (arg.spec().layout() instanceof Layout.Opaque) {
                    return List.of();
                } else {
                    views.add(cut(arg, axis, from, to, length));
                }
            }
            Stage piece = new Stage(stage.access(), stage.work(), views.subList(0, stage.inputs().size()),
                    views.subList(stage.inputs().size(), views.size()), null);
            Kernel chosen = kernel(computation, piece);
            if (chosen == null || !chosen.provider().equals(kernel.provider())) {
                return List.of();
            }
            parts.add(piece.with(chosen));
        }
        return parts;
    }

    private @Nullable Kernel kernel(Computation computation, Stage piece) {
        try {
            return kernels.get(computation, io.seriatim.device.Place.CPU, piece.specs());
        } catch (NoKernelException e) {
            return null;
        }
    }

    /** Neighbours in memory are cut in whole lines, if parts are long. */
    private static long unit(List<@Nullable Arg> args, Split split, long part) {
        boolean within = false;
        for (int i = 0; i < args.size(); i++) {
            Arg arg = args.get(i);
            int axis = split.axes().get(i);
            within |= arg != null && axis > 0 && axis == arg.spec().shape().rank() - 1;
        }
        return within && part >= 2 * LINE ? LINE : 1;
    }

    private static Arg cut(Arg arg, int axis, long from, long to, long length) {
        TensorSpec spec = arg.spec();
        long[] dims = spec.shape().dims();
        long places = dims[axis] / length;
        long[] strides = spec.strides();
        dims[axis] = (to - from) * places;
        return new Arg(arg.source(), arg.offset() + from * places * strides[axis] * spec.dtype().bytes(),
                new TensorSpec(spec.dtype(), Shape.of(dims), Layout.strided(strides)));
    }

    /** Whether nothing that one part writes is touched by another. */
    private boolean areApart(List<Stage> parts) {
        for (int i = 0; i < parts.size(); i++) {
            for (Arg written : written(parts.get(i))) {
                for (int j = 0; j < parts.size(); j++) {
                    if (i != j && parts.get(j).args().stream().anyMatch(arg -> meets(written, arg))) {
                        return false;
                    }
                }
            }
        }
        return true;
    }

    private boolean meets(Arg written, @Nullable Arg other) {
        return other != null && other.value() >= 0 && values.memory(other.value()) == values.memory(written.value())
                && !Region.areApart(written, other);
    }

    private static List<Arg> written(Stage stage) {
        Computation computation = Objects.requireNonNull(stage.computation());
        List<Arg> written = new ArrayList<>();
        for (int i = 0; i < stage.inputs().size(); i++) {
            Arg arg = stage.inputs().get(i);
            if (arg != null && computation.mutates(i)) {
                written.add(arg);
            }
        }
        stage.outputs().stream().filter(Objects::nonNull).forEach(written::add);
        return written;
    }
}
