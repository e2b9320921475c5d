package io.seriatim.executor.pass;

import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.PassName;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.TaskGraph;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.ScatterNd;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Turns an assignment or addition at index tuples into that of a slice, if the tuples are the places of a slice.
 * Exporters write {@code x[:, 1:] = y} as a scatter whose tuples come from ranges, expansions and a concatenation, and
 * may have more elements than x; nothing computes them then.
 */
final class SliceAssignments {
    /** This pass, as {@link PassPipeline} runs it. */
    static final RewritePass PASS =
            RewritePass.of(PassName.SIMPLIFICATION, (tasks, _) -> new SliceAssignments(tasks).rewrite());

    private final TaskGraph tasks;
    private final IndexGrids grids;

    private SliceAssignments(TaskGraph tasks) {
        this.tasks = tasks;
        this.grids = new IndexGrids(tasks);
    }

    private void rewrite() {
        for (int i = 0; i < tasks.size(); i++) {
            if (tasks.get(i) instanceof Task.Compute task
                    && task.stages().stream().anyMatch(SliceAssignments::assigns)) {
                List<Stage> stages = new ArrayList<>();
                for (Stage stage : task.stages()) {
                    stages.addAll(assigns(stage) ? copies(stage) : List.of(stage));
                }
                if (!stages.equals(task.stages())) {
                    tasks.put(i, task.with(task.operations(), stages));
                }
            }
        }
    }

    private static boolean assigns(Stage stage) {
        return stage.computation() instanceof ScatterNd(ScatterNd.Function function)
                && (function == ScatterNd.Function.ASSIGN || function == ScatterNd.Function.ADD)
                && stage.onlyOutput() != null
                && stage.inputs().stream().allMatch(Objects::nonNull);
    }

    /** Returns the copies that do the same as an assignment; it alone if there are none. */
    private List<Stage> copies(Stage stage) {
        Arg x = Objects.requireNonNull(stage.inputs().get(0));
        Arg updates = Objects.requireNonNull(stage.inputs().get(2));
        Arg out = Objects.requireNonNull(stage.onlyOutput());
        List<IndexGrid> tuples = grids.tuples(Objects.requireNonNull(stage.inputs().get(1)));
        Arg part = tuples == null || !x.spec().isRowMajor() || !out.spec().isRowMajor()
                ? null
                : part(out, tuples, updates.spec().shape());
        if (part == null) {
            return List.of(stage);
        }
        List<Stage> stages = new ArrayList<>();
        if (part.spec().shape().size() < out.spec().shape().size() && !x.equals(out)) {
            stages.add(Stage.of(stage.access(), Copy.PLAIN, List.of(x), out));
        }
        if (stage.computation() instanceof ScatterNd(ScatterNd.Function function)
                && function == ScatterNd.Function.ADD) {
            Arg before = new Arg(x.source(), x.offset() + part.offset() - out.offset(), part.spec());
            stages.add(Stage.of(stage.access(), Binary.of(Binary.Function.ADD), List.of(before, updates), part));
        } else {
            stages.add(Stage.of(stage.access(), Copy.PLAIN, List.of(updates), part));
        }
        return stages;
    }

    /** Returns the slice of a tensor at index tuples, with the dimensions of the updates; null if it is none. */
    private static @Nullable Arg part(Arg whole, List<IndexGrid> tuples, Shape updates) {
        Shape shape = whole.spec().shape();
        long[] memory = shape.strides();
        int places = updates.rank() - (shape.rank() - tuples.size());
        long[] strides = updates.strides();
        System.arraycopy(memory, tuples.size(), strides, places, shape.rank() - tuples.size());
        long offset = 0;
        for (int axis = 0; axis < tuples.size(); axis++) {
            IndexGrid grid = tuples.get(axis);
            if (!grid.isWithin(0, shape.dim(axis) - 1)) {
                return null;
            }
            offset += grid.base() * memory[axis];
        }
        boolean[] taken = new boolean[tuples.size()];
        for (int place = 0; place < places; place++) {
            if (updates.dim(place) == 1) {
                continue;
            }
            int axis = only(tuples, place);
            if (axis < 0 || taken[axis] || tuples.get(axis).stride(place) < 0) {
                return null;
            }
            taken[axis] = true;
            strides[place] = tuples.get(axis).stride(place) * memory[axis];
        }
        TensorSpec part = new TensorSpec(whole.spec().dtype(), updates, Layout.strided(strides));
        return new Arg(whole.source(), whole.offset() + offset * part.dtype().bytes(), part);
    }

    /** Returns the only axis whose index grows with a place; −1 if there are none or several. */
    private static int only(List<IndexGrid> tuples, int place) {
        int found = -1;
        for (int axis = 0; axis < tuples.size(); axis++) {
            if (tuples.get(axis).stride(place) != 0) {
                if (found >= 0) {
                    return -1;
                }
                found = axis;
            }
        }
        return found;
    }
}
