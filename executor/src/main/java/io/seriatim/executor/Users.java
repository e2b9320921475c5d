package io.seriatim.executor;

import io.seriatim.tensor.kernel.Computation;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.NavigableSet;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Which tasks read and write each value's memory, kept up to date while tasks are exchanged for others. */
final class Users {
    private final ValueTable values;
    private final int[] groups;
    private final List<TreeSet<Integer>> writers = new ArrayList<>();
    private final List<TreeSet<Integer>> readers = new ArrayList<>();

    Users(List<Task> tasks, ValueTable values) {
        this.values = values;
        this.groups = new int[values.size()];
        for (int i = 0; i < values.size(); i++) {
            groups[values.memory(i)]++;
            writers.add(new TreeSet<>());
            readers.add(new TreeSet<>());
        }
        for (int i = 0; i < tasks.size(); i++) {
            note(i, tasks.get(i), true);
        }
    }

    /** Those that write a value's memory, ascending. */
    NavigableSet<Integer> writers(int value) {
        return writers.get(values.memory(value));
    }

    NavigableSet<Integer> readers(int value) {
        return readers.get(values.memory(value));
    }

    /** Whether nothing but the tasks knows a value, and nothing else has its memory. */
    boolean isTemporary(int value) {
        return values.memory(value) == value && groups[value] == 1 && values.origin(value) == Accesses.Origin.COMPUTED
                && !values.isPersistable(value)
                && !values.isWanted(value) && values.spec(value) != null;
    }

    /** The values that several stages of a task touch: it may write one whole, and then a part of it once more. */
    static Set<Integer> touchedAgain(Task.Compute task) {
        Set<Integer> again = new HashSet<>();
        Set<Integer> all = new HashSet<>();
        for (Stage stage : task.stages()) {
            Set<Integer> touched = new HashSet<>();
            stage.args().stream().filter(arg -> arg != null && arg.spec().shape().size() > 0).forEach(arg -> touched.add(arg.value()));
            touched.stream().filter(value -> !all.add(value)).forEach(again::add);
        }
        return again;
    }

    /** Another task, or none, is where one was. */
    void replace(int index, @Nullable Task before, @Nullable Task after) {
        note(index, before, false);
        note(index, after, true);
    }

    private void note(int index, @Nullable Task task, boolean there) {
        if (task == null) {
            return;
        }
        for (int value : task.reads()) {
            note(index, readers.get(values.memory(value)), there);
        }
        for (int value : task.writes()) {
            note(index, writers.get(values.memory(value)), there);
        }
    }

    private static void note(int index, Set<Integer> list, boolean there) {
        if (there) {
            list.add(index);
        } else {
            list.remove(index);
        }
    }

    /** With other stages, which touch what they say; what no stage has written before, since it has no elements, stays the task's. */
    static Task.Compute rebuilt(Task.Compute task, List<Access> operations, List<Stage> stages) {
        Task.Compute plain = Task.Compute.of(operations, stages, task.temporaries(), task.place());
        Set<Integer> before = written(task.stages());
        Set<Integer> now = written(stages);
        int[] writes = IntStream.concat(Arrays.stream(plain.writes()).filter(now::contains),
                Arrays.stream(task.writes()).filter(value -> !before.contains(value) && !now.contains(value))).toArray();
        return new Task.Compute(plain.operations(), plain.stages(), plain.temporaries(), plain.place(), plain.reads(), writes);
    }

    private static Set<Integer> written(List<Stage> stages) {
        Set<Integer> written = new HashSet<>();
        for (Stage stage : stages) {
            Computation computation = stage.computation();
            for (int i = 0; i < stage.inputs().size(); i++) {
                Arg arg = stage.inputs().get(i);
                if (arg != null && computation != null && computation.mutates(i)) {
                    written.add(arg.value());
                }
            }
            stage.outputs().stream().filter(Objects::nonNull).forEach(arg -> written.add(arg.value()));
        }
        return written;
    }
}
