package io.seriatim.executor.pass;

import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Copy;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A stage of a task. Its task's temporaries are numbered like values, from {@code first} on: a resizing, for
 * example, is a task with a stage for each axis and an image between them.
 */
record ImageStage(Stage stage, Task.Compute task, int first) {
    List<@Nullable Arg> args() {
        return stage.args();
    }

    /** The number of the value or temporary that an argument is; -1 if it is neither. */
    int number(@Nullable Arg arg) {
        return arg == null ? -1 : arg.source() instanceof Arg.Temporary(int number) ? first + number : arg.value();
    }

    /** The number after that of the last temporary of the task. */
    int numbers() {
        return first + task.temporaries().size();
    }

    /** Returns what an argument is a view of. */
    TensorSpec whole(Arg arg, ValueTable values) {
        return arg.source() instanceof Arg.Temporary(int number)
                ? task.temporaries().get(number)
                : Objects.requireNonNull(values.spec(arg.value()));
    }

    /** Whether an argument is all of an image, perhaps with its pixels in other dimensions. */
    boolean isWhole(Arg arg, ValueTable values) {
        return arg.offset() == 0 && ImagePart.isSame(arg.spec(), whole(arg, values));
    }

    /** Returns the stages of all tasks, in order. */
    static List<ImageStage> of(List<Task> tasks, ValueTable values) {
        List<ImageStage> stages = new ArrayList<>();
        int numbers = values.size();
        for (Task task : tasks) {
            if (task instanceof Task.Compute compute) {
                for (Stage stage : compute.stages()) {
                    stages.add(new ImageStage(stage, compute, numbers));
                }
                numbers += compute.temporaries().size();
            }
        }
        return stages;
    }

    /** Returns the part of an image that an argument is; null if it is no such part. */
    @Nullable
    ImagePart part(Arg arg, ValueTable values) {
        return ImagePart.of(arg, whole(arg, values));
    }

    /** Whether the stage copies images, as to their place in a concatenation; each side may have any layout. */
    boolean isMove() {
        if (!(stage.computation() instanceof Copy) || stage.args().stream().anyMatch(Objects::isNull)) {
            return false;
        }
        TensorSpec from = Objects.requireNonNull(stage.args().getFirst()).spec();
        TensorSpec to = Objects.requireNonNull(stage.args().getLast()).spec();
        return from.dtype() == to.dtype() && from.shape().equals(to.shape());
    }

    /** Whether the stage copies whole images, transposed to pixels of channels. */
    boolean readsPixels(ValueTable values) {
        Arg in = isMove() ? Objects.requireNonNull(stage.args().getFirst()) : null;
        return in != null && number(in) >= 0 && ImagePart.isOfPixels(in, whole(in, values));
    }

    /** Whether the stage writes whole images, transposed from pixels of channels. */
    boolean writesPixels(ValueTable values) {
        Arg out = isMove() ? Objects.requireNonNull(stage.args().getLast()) : null;
        return out != null && number(out) >= 0 && isWhole(out, values)
                && ImagePart.isLast(Objects.requireNonNull(stage.args().getFirst()).spec());
    }
}
