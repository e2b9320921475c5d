package io.seriatim.executor.schedule;

import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.graph.op.Step;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Split;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * How the stages of a task are cut so that each tile runs a part of every stage: what one stage writes to temporary
 * memory and a later one reads is cut along one axis by both, or by none.
 *
 * @param splits
 *            for each stage; null if every tile runs all of it
 * @param axes
 *            for each temporary, along which axis it is cut, or {@link Split#WHOLE}
 * @param length
 *            between how many places the stages are cut
 */
record StageCuts(List<@Nullable Split> splits, List<Integer> axes, long length) {
    /** The share of the task's cost that every tile may repeat. */
    private static final int REPEATED_PART = 16;

    /** Returns the cuts of a task with a single stage. */
    static StageCuts of(Split split, TensorSpec[] specs) {
        return new StageCuts(List.of(split), List.of(), split.length(specs));
    }

    /**
     * Returns the cuts of a task whose last stage is cut in a given way; null if the other stages cannot follow. None
     * can follow a window.
     */
    static @Nullable StageCuts of(Task.Compute task, Split last) {
        List<Stage> stages = task.stages();
        if (stages.size() == 1) {
            return of(last, stages.getFirst().specs());
        }
        Search search = new Search(task, last.length(stages.getLast().specs()));
        for (int i = stages.size() - 1; i >= 0; i--) {
            if (!search.follow(i, i == stages.size() - 1 ? List.of(last) : null)) {
                return null;
            }
        }
        return search.found();
    }

    /** The axes of temporaries that later stages have decided. */
    private static final class Search {
        private static final int OPEN = -2;

        private final Task.Compute task;
        private final long length;
        private final int[] axes;
        private final List<@Nullable Split> splits = new ArrayList<>();
        private long repeated;
        private long all;

        Search(Task.Compute task, long length) {
            this.task = task;
            this.length = length;
            this.axes = new int[task.temporaries().size()];
            Arrays.fill(axes, OPEN);
            task.stages().forEach(_ -> splits.add(null));
        }

        /** Chooses the split of a stage, and returns whether there is one. */
        boolean follow(int index, @Nullable List<Split> given) {
            Stage stage = task.stages().get(index);
            Computation computation = stage.computation();
            if (computation == null || !areWhole(stage.args())
                    || IntStream.range(0, stage.inputs().size()).anyMatch(computation::mutates)) {
                return false;
            }
            long cost = CriticalPaths.cost(stage);
            all += cost;
            if (given == null && isRepeated(stage)) {
                repeated += cost;
                return stage.inputs().stream().allMatch(arg -> decide(arg, Split.WHOLE));
            }
            for (Split split : given == null ? computation.splits(stage.specs()) : given) {
                if ((given != null || split.isExact()) && split.length(stage.specs()) == length
                        && fits(stage, split)) {
                    splits.set(index, split);
                    List<@Nullable Arg> args = stage.args();
                    return IntStream.range(0, args.size()).allMatch(i -> decide(args.get(i), split.axes().get(i)));
                }
            }
            return false;
        }

        /** Returns whether operands in temporary memory are all of it. */
        private boolean areWhole(List<@Nullable Arg> args) {
            return args.stream().allMatch(arg -> arg == null || !(arg.source() instanceof Arg.Temporary(int number))
                    || (arg.offset() == 0 && arg.spec().equals(task.temporaries().get(number))));
        }

        /** Returns whether a stage only writes what later stages need whole. */
        private boolean isRepeated(Stage stage) {
            return stage.outputs().stream().allMatch(arg -> arg == null
                    || (arg.source() instanceof Arg.Temporary(int number) && axes[number] == Split.WHOLE));
        }

        private boolean fits(Stage stage, Split split) {
            for (int i = 0; i < stage.outputs().size(); i++) {
                Arg out = stage.outputs().get(i);
                int axis = split.axes().get(stage.inputs().size() + i);
                if (out != null && (axis == Split.WHOLE || (out.source() instanceof Arg.Temporary(int number)
                        && axes[number] != OPEN && axes[number] != axis))) {
                    return false;
                }
            }
            return true;
        }

        private boolean decide(@Nullable Arg arg, int axis) {
            if (arg != null && arg.source() instanceof Arg.Temporary(int number)) {
                boolean agrees = axes[number] == OPEN || axes[number] == axis;
                axes[number] = axis;
                return agrees;
            }
            return true;
        }

        @Nullable
        StageCuts found() {
            return repeated > all / REPEATED_PART
                    ? null
                    : new StageCuts(splits,
                            Arrays.stream(axes).map(axis -> axis == OPEN ? Split.WHOLE : axis).boxed().toList(),
                            length);
        }
    }

    /** Returns the stages of a tile without kernels; none if an operand cannot be viewed in parts. */
    List<Stage> stages(Task.Compute task, Split.Range places) {
        List<Stage> parts = new ArrayList<>();
        for (Stage stage : task.stages()) {
            Split split = splits.get(parts.size());
            Stage part = split == null ? stage : part(stage, split, places);
            if (part == null) {
                return List.of();
            }
            parts.add(part);
        }
        return parts;
    }

    private @Nullable Stage part(Stage stage, Split split, Split.Range places) {
        List<@Nullable Arg> args = stage.args();
        List<@Nullable Arg> views = new ArrayList<>(args.size());
        for (int i = 0; i < args.size(); i++) {
            Arg arg = args.get(i);
            int axis = split.axes().get(i);
            if (arg == null || axis == Split.WHOLE) {
                views.add(arg);
            } else if (arg.source() instanceof Arg.Temporary) {
                views.add(new Arg(arg.source(), 0, shortened(arg.spec(), axis, places)));
            } else {
                Split.Range range = split.range(i, places, length, arg.spec().shape().dim(axis));
                if (arg.spec().layout() instanceof Layout.Opaque || range.from() >= range.to()) {
                    return null;
                }
                views.add(cut(arg, axis, range));
            }
        }
        Computation computation = Objects.requireNonNull(stage.computation()).part(split, places, stage.specs());
        return new Stage(stage.access(), new Step.Work.Compute(computation), views.subList(0, stage.inputs().size()),
                views.subList(stage.inputs().size(), views.size()), null);
    }

    /** Returns the temporary memory of a tile. */
    List<TensorSpec> temporaries(Task.Compute task, Split.Range places) {
        List<TensorSpec> parts = new ArrayList<>();
        for (TensorSpec whole : task.temporaries()) {
            int axis = axes.isEmpty() ? Split.WHOLE : axes.get(parts.size());
            parts.add(axis == Split.WHOLE ? whole : shortened(whole, axis, places));
        }
        return parts;
    }

    /** Returns dense memory for a part, with the order of dimensions of the whole. */
    private TensorSpec shortened(TensorSpec whole, int axis, Split.Range places) {
        long[] dims = whole.shape().dims();
        dims[axis] = (places.to() - places.from()) * (dims[axis] / length);
        long[] given = whole.strides();
        long[] strides = new long[dims.length];
        List<Integer> outward = new ArrayList<>();
        for (int i = dims.length - 1; i >= 0; i--) {
            outward.add(i);
        }
        outward.sort(Comparator.comparingLong(i -> given[i]));
        long step = 1;
        for (int i : outward) {
            strides[i] = step;
            step *= dims[i];
        }
        return new TensorSpec(whole.dtype(), Shape.of(dims), Layout.strided(strides));
    }

    private static Arg cut(Arg arg, int axis, Split.Range range) {
        TensorSpec spec = arg.spec();
        long[] dims = spec.shape().dims();
        long[] strides = spec.strides();
        long offset = arg.offset() + range.from() * strides[axis] * spec.dtype().bytes();
        dims[axis] = range.to() - range.from();
        closeUp(dims, strides);
        return new Arg(arg.source(), offset,
                new TensorSpec(spec.dtype(), Shape.of(dims), Layout.strided(strides)));
    }

    /**
     * Gives dimensions of length 1, which step nowhere, the strides that they have where the others are dense: kernels
     * know a layout by its strides.
     */
    private static void closeUp(long[] dims, long[] strides) {
        for (int i = 0; i < dims.length; i++) {
            if (dims[i] == 1) {
                long inside = 1;
                for (int j = 0; j < dims.length; j++) {
                    if (dims[j] > 1 && strides[j] > 0 && strides[j] * dims[j] <= strides[i]) {
                        inside = Math.max(inside, strides[j] * dims[j]);
                    }
                }
                strides[i] = inside;
            }
        }
    }
}
