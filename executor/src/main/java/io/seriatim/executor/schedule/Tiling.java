package io.seriatim.executor.schedule;

import io.seriatim.device.Place;
import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.Options;
import io.seriatim.executor.ir.Region;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.TaskGraph;
import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.graph.op.Effect;
import io.seriatim.graph.op.Operations;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.network.Recurrence;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.PreparedKernels;
import io.seriatim.tensor.kernel.Split;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Splits large tasks into tiles that threads execute in parallel. Each tile computes a part of the result from views of
 * the same operands. A task that reads a part of the result waits only for the tile that wrote it. A chain of layers
 * thus becomes independent chains of tiles without barriers between layers.
 *
 * <p>
 * A task that follows a tiled task is tiled in the same way, even if it is small: each tile continues from one tile of
 * the previous task. A recurrence becomes several independent recurrences over groups of rows.
 *
 * <p>
 * The choice depends only on shapes and the number of threads, never on measured time. A computation declares the
 * splits under which its tiles compute the same result as the whole ({@link Computation#splits}). The kernels of the
 * tiles must have the same provider as the kernel of the whole. The memory that one tile writes must be known to be
 * disjoint from all memory that another tile accesses. Written values have memory before the task starts: they are in
 * an arena, outlive the run, or are results, which the run then allocates when it begins. Tiles that change a value
 * that outlives the run form a {@linkplain #together group}: once one of them has run, the others run too, even if the
 * run fails.
 */
public final class Tiling {
    /**
     * The minimum cost of a tile in the unit of {@link CriticalPaths}: about 4 µs, since operands that fit into caches
     * take a third of the estimated time.
     */
    private static final long LEAST_PART = 130_000;
    /**
     * The minimum cost of a tile that continues from one tile of the previous task, preferably on the same thread:
     * about 0.5 µs.
     */
    private static final long LEAST_FOLLOWER = 16_000;
    /**
     * Another split than the first must save this share of the time, one in so many, and {@link #LEAST_FOLLOWER}: tiles
     * that continue from those of the previous task wait for nothing else.
     */
    private static final int LEAST_SAVING = 16;
    /** The number of float32 elements in a cache line, at whose multiples columns are split. */
    private static final int LINE = 16;

    private final ValueTable values;
    private final PreparedKernels kernels;
    private final int threads;
    private final long least;
    private final boolean byRows;
    private final boolean[] isSplittable;
    private final Tiles pieces;

    private Tiling(List<Task> tasks, ValueTable values, PreparedKernels kernels, int threads, long least,
            boolean byRows) {
        this.values = values;
        this.kernels = kernels;
        this.threads = threads;
        this.least = least;
        this.byRows = byRows;
        this.isSplittable = splittable(tasks, values);
        this.pieces = new Tiles(values);
    }

    /**
     * Tiles the tasks of a graph, all of which run on the host.
     *
     * @param byRows
     *            whether splits are allowed for which a kernel may sum in another order, such as those of images into
     *            rows
     */
    public static void split(TaskGraph graph, Options options, PreparedKernels kernels, boolean byRows) {
        List<Task> tasks = graph.tasks();
        ValueTable values = graph.values();
        Tiling partition = new Tiling(tasks, values, kernels, options.threads(), options.eager() ? 1 : LEAST_PART,
                byRows);
        List<Task> all = new ArrayList<>(tasks.size());
        for (Task each : tasks) {
            for (Task task : partition.divided(each)) {
                List<Task.Compute> parts = task instanceof Task.Compute compute ? partition.parts(compute) : List.of();
                if (parts.isEmpty()) {
                    partition.pieces.whole(task);
                    all.add(task);
                } else {
                    partition.pieces.parts(parts);
                    all.addAll(parts);
                }
            }
        }
        if (all.size() > tasks.size()) {
            graph.replaceAll(all);
        }
    }

    /**
     * Returns for each task the first task of its group. A group consists of consecutive tiles that change parts of the
     * same value, which outlives the run. A task in no group is its own first task.
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

    /** Returns whether a task computes a recurrence that is long enough for two tiles. */
    static boolean recurs(Task task) {
        return task instanceof Task.Compute compute
                && compute.stages().stream().anyMatch(stage -> recurs(stage, 2 * LEAST_PART));
    }

    private static boolean recurs(Stage stage, long least) {
        return stage.computation() instanceof Recurrence && CriticalPaths.cost(stage) >= least;
    }

    /** Returns for each memory whether tiles may write it. */
    private static boolean[] splittable(List<Task> tasks, ValueTable values) {
        boolean[] splittable = new boolean[values.size()];
        for (int i = 0; i < splittable.length; i++) {
            splittable[i] = values.spec(i) != null && values.constant(i) == null
                    && (values.origin(i) != ValueNumbering.Origin.COMPUTED || !values.isPersistable(i));
        }
        for (int i = 0; i < splittable.length; i++) {
            if (values.spec(i) == null) {
                splittable[values.memory(i)] &= values.origin(values.memory(i)) != ValueNumbering.Origin.COMPUTED;
            }
        }
        for (Task task : tasks) {
            if (task.isUnplanned()) {
                for (int value : task.writes()) {
                    splittable[values.memory(value)] = false;
                }
            }
        }
        return splittable;
    }

    /**
     * Returns the tasks that a task consists of, if threads gain from them. Tasks that change what outlives the run
     * stay whole.
     */
    private List<? extends Task> divided(Task task) {
        if (!(task instanceof Task.Compute compute) || compute.stages().size() < 2 || !isFree(compute)
                || !areSplittable(compute.writes())
                || Arrays.stream(compute.writes())
                        .anyMatch(value -> values.origin(values.memory(value)) != ValueNumbering.Origin.COMPUTED)) {
            return List.of(task);
        }
        List<Task.Compute> tasks = independent(compute);
        return tasks.size() < threads ? tasks.stream().flatMap(each -> separate(each).stream()).toList() : tasks;
    }

    /**
     * Returns the stages of a recurrent layer as tasks, so that the products of its inputs can be cut by rows and the
     * recurrence by sequences.
     */
    private List<Task.Compute> separate(Task.Compute task) {
        if (!byRows || task.stages().size() < 2 || task.stages().stream().noneMatch(this::isCut)
                || task.stages().stream().flatMap(stage -> stage.inputs().stream())
                        .anyMatch(arg -> arg != null && arg.value() >= 0 && writes(task, arg.value()))) {
            return List.of(task);
        }
        List<Arg.Source> sources = new ArrayList<>();
        for (TensorSpec temporary : task.temporaries()) {
            int value = values.add(task.name() + "_temporary_" + sources.size(), temporary);
            values.place(value, task.place());
            sources.add(new Arg.Value(value));
        }
        List<Task.Compute> tasks = new ArrayList<>();
        Set<Integer> written = new HashSet<>();
        for (Stage stage : task.stages()) {
            Stage own = stage.with(inValues(stage.inputs(), sources), inValues(stage.outputs(), sources));
            tasks.add(Task.Compute.ofStages(task.operations(), List.of(own), List.of(), task.place()));
            Arrays.stream(tasks.getLast().writes()).forEach(written::add);
        }
        int[] unwritten = Arrays.stream(task.writes()).filter(value -> !written.contains(value)).toArray();
        if (unwritten.length > 0) {
            Task.Compute first = tasks.getFirst();
            tasks.set(0, new Task.Compute(first.operations(), first.stages(), first.temporaries(), first.place(),
                    first.reads(),
                    IntStream.concat(Arrays.stream(first.writes()), Arrays.stream(unwritten)).toArray()));
        }
        return tasks;
    }

    /** Returns whether a stage is a recurrence that threads compute in parts. */
    private boolean isCut(Stage stage) {
        Computation computation = stage.computation();
        if (computation == null || !recurs(stage, 2 * least)) {
            return false;
        }
        Split split = computation.splits(stage.specs()).getFirst();
        return count(split, split.length(stage.specs()), CriticalPaths.cost(stage)) > 1;
    }

    /** Returns whether a task writes the memory of a value. */
    private boolean writes(Task task, int value) {
        return Arrays.stream(task.writes()).anyMatch(other -> values.memory(other) == values.memory(value));
    }

    private static List<@Nullable Arg> inValues(List<@Nullable Arg> args, List<Arg.Source> sources) {
        List<@Nullable Arg> all = new ArrayList<>();
        for (Arg arg : args) {
            all.add(arg != null && arg.source() instanceof Arg.Temporary(int number)
                    ? new Arg(sources.get(number), arg.offset(), arg.spec())
                    : arg);
        }
        return all;
    }

    /** Returns the parts of a task that do not depend on one another as tasks of their own. */
    private List<Task.Compute> independent(Task.Compute compute) {
        List<Task.Compute> parts = compute.partsByBytes(values::memory);
        if (parts.stream().mapToLong(part -> cost(part) / least).sum() < 2) {
            return List.of(compute);
        }
        // What is small stays together.
        List<Task.Compute> tasks = new ArrayList<>();
        List<Stage> small = new ArrayList<>();
        for (Task.Compute part : parts) {
            if (!tasks.isEmpty() && cost(part) < least && part.temporaries().isEmpty()) {
                small.addAll(part.stages());
            } else {
                tasks.add(part);
            }
        }
        if (!small.isEmpty()) {
            tasks.add(Task.Compute.ofStages(compute.operations(), small, List.of(), compute.place()));
        }
        return tasks;
    }

    /**
     * Returns whether the stages of a task compute their results from their operands alone. An operation that may draw
     * random numbers, such as a recurrent layer with dropout, draws none if no stage has a key.
     */
    private static boolean isFree(Task.Compute task) {
        return task.operations().stream().map(access -> Operations.system().find(access.op().type()))
                .allMatch(schema -> schema != null && Set.of(Effect.RANDOM).containsAll(schema.effects()))
                && task.stages().stream().allMatch(stage -> stage.computation() != null && stage.args().stream()
                        .noneMatch(arg -> arg != null && arg.source() instanceof Arg.Key));
    }

    private static long cost(Task.Compute task) {
        return task.stages().stream().mapToLong(CriticalPaths::cost).sum();
    }

    private List<Task.Compute> parts(Task.Compute task) {
        long cost = cost(task);
        if (!isFree(task) || cost < 2 * Math.min(least, LEAST_FOLLOWER) || !areSplittable(task.writes())
                || task.stages().size() > Task.MOST_STAGES) {
            return List.of();
        }
        Stage last = task.stages().getLast();
        Computation computation = Objects.requireNonNull(last.computation());
        for (Split split : splits(computation, last.specs(), CriticalPaths.cost(last))) {
            StageCuts cuts = StageCuts.of(task, split);
            int count = cuts == null ? 0 : count(split, cuts.length(), cost);
            List<Task.Compute> parts = cuts == null || count < 2 ? List.of() : parts(task, cuts, count);
            if (!parts.isEmpty()) {
                return parts;
            }
        }
        return task.stages().size() == 1 ? following(task, computation, cost) : List.of();
    }

    /**
     * Returns the splits that are allowed, the best one first. In a plan that trains these are those with which the
     * threads have the same work; in others, those whose tiles take the least time.
     */
    private List<Split> splits(Computation computation, TensorSpec[] specs, long cost) {
        List<Split> all = computation.splits(specs);
        if (!byRows) {
            boolean windows = all.stream().anyMatch(split -> split.window() != null);
            return all.stream().filter(Split::isExact)
                    .sorted(Comparator.comparing(split -> windows && isUneven(split.length(specs)))).toList();
        }
        return all.stream().sorted(Comparator.comparingLong(split -> {
            long time = time(split, specs, cost) + copies(computation, split, specs);
            return split.equals(all.getFirst()) ? time : time + time / LEAST_SAVING + LEAST_FOLLOWER;
        })).toList();
    }

    /**
     * Returns the estimated time of the largest tile, in the unit of {@link CriticalPaths}. Every tile reads the
     * operands that are not cut. Tiles of a few rows would each read all weights from memory, for example.
     */
    private long time(Split split, TensorSpec[] specs, long cost) {
        long units = split.length(specs) / split.unit();
        int count = count(split, split.length(specs), cost);
        if (count < 2) {
            return 2 * cost;
        }
        long whole = 0;
        for (int i = 0; i < specs.length; i++) {
            whole += specs[i] == null || split.axes().get(i) != Split.WHOLE ? 0 : specs[i].bytes();
        }
        return whole + Math.max(0, cost - whole) / units * Math.ceilDiv(units, count);
    }

    /**
     * Returns the estimated time for the copies of a tile whose operands have gaps, which convolutions and functions of
     * images need without gaps: parts of the channels of images that are laid out with channels last.
     */
    private long copies(Computation computation, Split split, TensorSpec[] specs) {
        long bytes = 0;
        for (int i = 0; i < specs.length && !(computation instanceof MatMul); i++) {
            int axis = split.axes().get(i);
            bytes += specs[i] != null && axis > 0 && isLast(specs[i], axis) ? specs[i].bytes() : 0;
        }
        return 2 * bytes / threads;
    }

    /** Returns whether an axis of images is the innermost one in memory although it is not the last one. */
    private static boolean isLast(TensorSpec spec, int axis) {
        Shape shape = spec.shape();
        return axis < shape.rank() - 1 && shape.dim(axis) > 1 && !(spec.layout() instanceof Layout.Opaque)
                && spec.strides()[axis] == 1
                && shape.size() > shape.dim(0) * shape.dim(axis);
    }

    /** Returns into how many tiles a task of some cost is cut at most. */
    private int count(Split split, long length, long cost) {
        return (int) Math.min(Math.min(threads, cost / least), length / split.least());
    }

    /** Returns whether the threads would wait for a tenth of the time or more for the one with the most places. */
    private boolean isUneven(long length) {
        return length < 9L * threads * Math.ceilDiv(length, threads) / 10;
    }

    /** Splits a small task so that each tile continues from one tile of a previous task. */
    private List<Task.Compute> following(Task.Compute task, Computation computation, long cost) {
        Stage stage = task.stages().getFirst();
        TensorSpec[] specs = stage.specs();
        for (Split split : splits(computation, specs, cost)) {
            for (int i = 0; i < stage.inputs().size(); i++) {
                int input = i;
                Arg arg = stage.inputs().get(i);
                int count = arg == null || split.axes().get(i) == Split.WHOLE ? 1 : pieces.count(arg);
                if (arg == null || count < 2 || cost / LEAST_FOLLOWER < count
                        || split.length(specs) / split.least() < count) {
                    continue;
                }
                List<Task.Compute> parts = parts(task, StageCuts.of(split, specs), count);
                if (!parts.isEmpty() && pieces.areAlike(arg, parts.stream()
                        .map(part -> Objects.requireNonNull(part.stages().getFirst().inputs().get(input))).toList())) {
                    return parts;
                }
            }
        }
        return List.of();
    }

    private boolean areSplittable(int[] written) {
        return written.length > 0 && Arrays.stream(written).map(values::memory)
                .allMatch(value -> value >= isSplittable.length || isSplittable[value]);
    }

    /**
     * Returns the tiles of a task; empty if an operand cannot be viewed in parts, if a kernel of a tile would have
     * another provider, or if a tile would access what another one writes.
     */
    private List<Task.Compute> parts(Task.Compute task, StageCuts cuts, int count) {
        Stage last = task.stages().getLast();
        long length = cuts.length();
        long unit = unit(last.args(), Objects.requireNonNull(cuts.splits().getLast()), length / count);
        List<Task.Compute> parts = new ArrayList<>(count);
        for (int part = 0; part < count; part++) {
            long from = part * length / count / unit * unit;
            long to = part == count - 1 ? length : (part + 1) * length / count / unit * unit;
            List<Stage> stages = new ArrayList<>();
            for (Stage stage : cuts.stages(task, new Split.Range(from, to))) {
                Kernel whole = task.stages().get(stages.size()).kernel();
                Kernel chosen = kernels.find(Objects.requireNonNull(stage.computation()), Place.CPU, stage.specs());
                if (whole == null || chosen == null || !chosen.provider().equals(whole.provider())) {
                    return List.of();
                }
                stages.add(stage.with(chosen));
            }
            if (stages.isEmpty()) {
                return List.of();
            }
            parts.add(new Task.Compute(task.operations(), stages,
                    cuts.temporaries(task, new Split.Range(from, to)), task.place(), task.reads(), task.writes()));
        }
        return areApart(parts) ? parts : List.of();
    }

    /**
     * Returns the multiple at which to split: that of the split, or else a cache line if the split axis is contiguous
     * and tiles are long, or else 1.
     */
    private static long unit(List<@Nullable Arg> args, Split split, long part) {
        if (split.unit() > 1) {
            return split.unit();
        }
        boolean within = false;
        for (int i = 0; i < args.size(); i++) {
            Arg arg = args.get(i);
            int axis = split.axes().get(i);
            within |= arg != null && axis > 0 && axis == arg.spec().shape().rank() - 1;
        }
        return within && part >= 2 * LINE ? LINE : 1;
    }

    /** Returns whether no tile accesses memory that another tile writes. */
    private boolean areApart(List<Task.Compute> parts) {
        for (int i = 0; i < parts.size(); i++) {
            for (Arg written : written(parts.get(i))) {
                for (int j = 0; j < parts.size(); j++) {
                    if (i != j && parts.get(j).stages().stream().flatMap(stage -> stage.args().stream())
                            .anyMatch(arg -> meets(written, arg))) {
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

    /** Returns the operands in values that a task writes. */
    private static List<Arg> written(Task.Compute task) {
        List<Arg> written = new ArrayList<>();
        for (Stage stage : task.stages()) {
            Computation computation = Objects.requireNonNull(stage.computation());
            for (int i = 0; i < stage.inputs().size(); i++) {
                Arg arg = stage.inputs().get(i);
                if (arg != null && computation.mutates(i)) {
                    written.add(arg);
                }
            }
            stage.outputs().stream().filter(Objects::nonNull).forEach(written::add);
        }
        written.removeIf(arg -> arg.value() < 0);
        return written;
    }
}
