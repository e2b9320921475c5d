package io.seriatim.executor.pass;

import io.seriatim.executor.ir.Access;
import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.PassName;
import io.seriatim.executor.ir.PlaceRequest;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.TaskGraph;
import io.seriatim.executor.ir.TaskSet;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.tensor.computation.network.Update;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;

/**
 * Moves and joins parameter updates. A program updates all parameters at its end, when the gradients are no longer in
 * the caches but all still occupy memory. This pass moves the update of a large parameter to the point at which its
 * gradient is computed and the old parameter is no longer read. Updates of small parameters, which take longer to
 * schedule than to compute, are joined into one task for each kind of update, learning rate and requested place.
 *
 * <p>
 * An update moves only past tasks with which it shares no memory that either of them writes, and never past an
 * interpreted task, which may have side effects. Small updates are joined at the position of the last of them, if no
 * task in between conflicts with the earlier ones. Each update computes the same bits as before.
 */
final class Updates {
    /** This pass, as {@link PassPipeline} runs it. */
    static final RewritePass PASS = new RewritePass(PassName.UPDATES.name(),
            context -> context.isOnForHost(PassName.UPDATES) && !context.options().sequential(),
            (tasks, _) -> rewrite(tasks));

    /** The number of elements whose update takes about as long as handing a task to a thread. */
    private static final long SMALL = 4096;
    private static final int MOST_JOINED = 64;

    private final TaskGraph tasks;
    private final ValueTable values;
    /** The new position of each task. */
    private final Position[] positions;

    /** A position: after a task that does not move, and by {@code order} among the updates there. */
    private record Position(int after, int order) implements Comparable<Position> {
        static final Position FIRST = new Position(-1, -1);

        @Override
        public int compareTo(Position other) {
            return Comparator.comparingInt(Position::after).thenComparingInt(Position::order).compare(this, other);
        }

        Position later(Position other) {
            return compareTo(other) < 0 ? other : this;
        }
    }

    private record Placed(Task task, Position position) {
    }

    /** The common properties of small updates that may be joined. */
    private record Kind(Update update, int rate, PlaceRequest place) {
    }

    private Updates(TaskGraph tasks) {
        this.tasks = tasks;
        this.values = tasks.values();
        this.positions = new Position[tasks.size()];
    }

    private static void rewrite(TaskGraph tasks) {
        List<Task> all = tasks.tasks();
        if (all.stream().anyMatch(Updates::isUpdate)) {
            tasks.replaceAll(new Updates(tasks).ordered(all));
        }
    }

    private static boolean isUpdate(Task task) {
        return task instanceof Task.Compute compute && compute.operations().size() == 1 && compute.stages().size() == 1
                && compute.stages().getFirst().computation() instanceof Update && compute.temporaries().isEmpty();
    }

    private List<Task> ordered(List<Task> all) {
        List<Placed> placed = new ArrayList<>(all.size());
        Position barrier = Position.FIRST;
        for (int i = 0; i < all.size(); i++) {
            Task task = all.get(i);
            Position position = isUpdate(task)
                    ? new Position(barrier.later(ready(i, task)).after(), i)
                    : new Position(i, -1);
            positions[i] = position;
            placed.add(new Placed(task, position));
            barrier = task.isUnplanned() ? position : barrier;
        }
        placed.sort(Comparator.comparing(Placed::position));
        return joined(placed.stream().map(Placed::task).toList());
    }

    /** Returns the first position to which an update may move: after the last task that it must not pass. */
    private Position ready(int index, Task task) {
        Position ready = Position.FIRST;
        for (int value : task.reads()) {
            ready = ready.later(lastWriter(value, index));
        }
        for (int value : task.writes()) {
            ready = ready.later(lastWriter(value, index));
            ready = ready.later(lastReader(value, index));
        }
        return ready;
    }

    /** The position of the last writer before an index. It stands behind all earlier users of the same memory. */
    private Position lastWriter(int value, int index) {
        int last = tasks.writers(value).atOrBefore(index - 1);
        return last == TaskSet.NONE ? Position.FIRST : positions[last];
    }

    /**
     * The last of the positions of the readers before an index. A reader that keeps its place stands behind all earlier
     * ones; an update may have moved up past others that only read.
     */
    private Position lastReader(int value, int index) {
        TaskSet readers = tasks.readers(value);
        Position last = Position.FIRST;
        boolean isKept = false;
        for (int i = readers.atOrBefore(index - 1); i != TaskSet.NONE && !isKept; i = readers.atOrBefore(i - 1)) {
            last = last.later(positions[i]);
            isKept = positions[i].after() == i;
        }
        return last;
    }

    private List<Task> joined(List<Task> tasks) {
        List<Task> result = new ArrayList<>(tasks);
        Map<Kind, List<Integer>> open = new LinkedHashMap<>();
        for (int i = 0; i < tasks.size(); i++) {
            Task task = tasks.get(i);
            Kind kind = isSmall(task) ? kind((Task.Compute) task) : null;
            open.values().removeIf(waiting -> waiting.stream().anyMatch(each -> touches(tasks.get(each), task)));
            if (kind == null) {
                continue;
            }
            List<Integer> waiting = open.computeIfAbsent(kind, _ -> new ArrayList<>());
            if (!waiting.isEmpty()) {
                int last = waiting.getLast();
                result.set(i, join((Task.Compute) result.get(last), (Task.Compute) task));
                result.set(last, null);
            }
            waiting.add(i);
            if (waiting.size() == MOST_JOINED) {
                open.remove(kind);
            }
        }
        result.removeIf(Objects::isNull);
        return result;
    }

    private static boolean isSmall(Task task) {
        return isUpdate(task) && task instanceof Task.Compute compute
                && Objects.requireNonNull(compute.stages().getFirst().inputs().getFirst()).spec().shape()
                        .size() <= SMALL;
    }

    private static Kind kind(Task.Compute task) {
        Stage stage = task.stages().getFirst();
        Arg rate = stage.inputs().get(2);
        return new Kind((Update) Objects.requireNonNull(stage.computation()), rate == null ? -1 : rate.value(),
                task.placeRequest());
    }

    /** Returns whether two tasks must keep their order. */
    private boolean touches(Task first, Task second) {
        return meet(first.writes(), second.writes()) || meet(first.writes(), second.reads())
                || meet(first.reads(), second.writes());
    }

    private boolean meet(int[] some, int[] others) {
        return Arrays.stream(some)
                .anyMatch(one -> Arrays.stream(others).anyMatch(other -> values.memory(one) == values.memory(other)));
    }

    private static Task.Compute join(Task.Compute first, Task.Compute second) {
        List<Access> operations = new ArrayList<>(first.operations());
        operations.addAll(second.operations());
        List<Stage> stages = new ArrayList<>(first.stages());
        stages.addAll(second.stages());
        return new Task.Compute(operations, stages, List.of(), first.place(), union(first.reads(), second.reads()),
                union(first.writes(), second.writes()));
    }

    private static int[] union(int[] some, int[] others) {
        return IntStream.concat(Arrays.stream(some), Arrays.stream(others)).distinct().toArray();
    }
}
