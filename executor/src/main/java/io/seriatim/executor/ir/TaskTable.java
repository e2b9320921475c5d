package io.seriatim.executor.ir;

import java.util.ArrayList;
import java.util.List;
import java.util.NavigableSet;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** The tasks of a plan while a pass exchanges some for others, and which of them read and write each value's memory. */
public final class TaskTable {
    private final @Nullable Task[] tasks;
    private final ValueTable values;
    private final int[] groups;
    private final List<TreeSet<Integer>> writers = new ArrayList<>();
    private final List<TreeSet<Integer>> readers = new ArrayList<>();

    public TaskTable(List<Task> tasks, ValueTable values) {
        this.tasks = tasks.toArray(Task[]::new);
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

    /** How many there were. */
    public int size() {
        return tasks.length;
    }

    /** Null where there is none any more. */
    @Nullable
    public Task get(int index) {
        return tasks[index];
    }

    /** One that is there, and computes. */
    public Task.Compute compute(int index) {
        return (Task.Compute) Objects.requireNonNull(tasks[index]);
    }

    /** Another task, or none, is where one was. */
    public void put(int index, @Nullable Task task) {
        note(index, tasks[index], false);
        note(index, task, true);
        tasks[index] = task;
    }

    /** Those that are there. */
    public List<Task> left() {
        List<Task> left = new ArrayList<>(tasks.length);
        for (Task task : tasks) {
            if (task != null) {
                left.add(task);
            }
        }
        return left;
    }

    /** Those that write a value's memory, ascending. */
    public NavigableSet<Integer> writers(int value) {
        return writers.get(values.memory(value));
    }

    public NavigableSet<Integer> readers(int value) {
        return readers.get(values.memory(value));
    }

    /** Whether nothing but the tasks knows a value, and nothing else has its memory. */
    public boolean isTemporary(int value) {
        return values.memory(value) == value && groups[value] == 1
                && values.origin(value) == ValueNumbering.Origin.COMPUTED
                && !values.isPersistable(value)
                && !values.isWanted(value) && values.spec(value) != null;
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
}
