package io.seriatim.executor.ir;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The tasks of a plan while it is compiled, the values that they work on, and the index of uses: which tasks read and
 * which write each value's memory. Every change of a task goes through the graph, so that the index is always right; no
 * other class keeps a table from values to tasks. Of one thread.
 *
 * <p>
 * Tasks have indexes in the order of the program: a task may read only what a task of a lower index has written, or
 * what is there before the run. {@link #put} and {@link #remove} keep all indexes and update the index of uses at once;
 * a removed task leaves a gap. {@link #replaceAll} gives the tasks a new order and {@link #compact} closes the gaps;
 * after both the index of uses is built anew when it is next asked for.
 *
 * <p>
 * Invariants: readers and writers of a memory are exactly the tasks whose {@link Task#reads} and {@link Task#writes}
 * name a value with this memory. So neither these arrays nor the memory of a value may be changed once a graph has been
 * made; {@link #wrongUse} finds it.
 */
public final class TaskGraph {
    private final ValueTable values;
    private @Nullable Task[] tasks;
    private int count;
    /** Null when it must be built before the next use. */
    private @Nullable Uses uses;

    /** The index of uses. Both arrays are by memory; null where no task uses it. */
    private static final class Uses {
        private final ValueTable values;
        private @Nullable TaskSet[] readers;
        private @Nullable TaskSet[] writers;
        /** By memory, whether the task that is put in touches it: if it holds the number of that change. */
        private int[] marks;
        private int changes;

        Uses(@Nullable Task[] tasks, ValueTable values) {
            int n = values.size();
            this.values = values;
            this.marks = new int[n];
            int[] reads = new int[n];
            int[] writes = new int[n];
            for (Task task : tasks) {
                if (task != null) {
                    count(task.reads(), reads);
                    count(task.writes(), writes);
                }
            }
            readers = sets(reads);
            writers = sets(writes);
            for (int i = 0; i < tasks.length; i++) {
                Task task = tasks[i];
                if (task != null) {
                    append(i, task.reads(), readers);
                    append(i, task.writes(), writers);
                }
            }
        }

        private void count(int[] touched, int[] counts) {
            for (int value : touched) {
                counts[values.memory(value)]++;
            }
        }

        private static @Nullable TaskSet[] sets(int[] counts) {
            @Nullable
            TaskSet[] sets = new TaskSet[counts.length];
            for (int i = 0; i < sets.length; i++) {
                sets[i] = counts[i] == 0 ? null : new TaskSet(counts[i]);
            }
            return sets;
        }

        private void append(int task, int[] touched, @Nullable TaskSet[] sets) {
            for (int value : touched) {
                Objects.requireNonNull(sets[values.memory(value)]).append(task);
            }
        }

        void change(int index, @Nullable Task before, @Nullable Task now) {
            if (values.size() > marks.length) {
                int n = Math.max(values.size(), marks.length + marks.length / 4);
                readers = Arrays.copyOf(readers, n);
                writers = Arrays.copyOf(writers, n);
                marks = Arrays.copyOf(marks, n);
            }
            change(index, before == null ? null : before.reads(), now == null ? null : now.reads(), readers);
            change(index, before == null ? null : before.writes(), now == null ? null : now.writes(), writers);
        }

        @SuppressWarnings("ReferenceEquality") // The same array has the same elements.
        private void change(int index, int @Nullable [] before, int @Nullable [] now, @Nullable TaskSet[] sets) {
            if (before == now) {
                return;
            }
            changes++;
            if (now != null) {
                for (int value : now) {
                    int memory = values.memory(value);
                    marks[memory] = changes;
                    TaskSet set = sets[memory];
                    if (set == null) {
                        set = new TaskSet(2);
                        sets[memory] = set;
                    }
                    set.add(index);
                }
            }
            if (before != null) {
                for (int value : before) {
                    int memory = values.memory(value);
                    TaskSet set = sets[memory];
                    if (set != null && marks[memory] != changes) {
                        set.remove(index);
                    }
                }
            }
        }

        static TaskSet get(@Nullable TaskSet[] sets, int memory) {
            TaskSet set = memory < sets.length ? sets[memory] : null;
            return set == null ? TaskSet.EMPTY : set;
        }
    }

    /**
     * A graph of tasks.
     *
     * @param tasks
     *            in the order of the program
     * @param values
     *            what is known of the values; their memory is no longer changed
     */
    public TaskGraph(List<Task> tasks, ValueTable values) {
        this.tasks = tasks.toArray(Task[]::new);
        this.count = this.tasks.length;
        this.values = values;
    }

    /** What is known of each value. Values may be added. */
    public ValueTable values() {
        return values;
    }

    /** How many indexes there are, gaps included. */
    public int size() {
        return tasks.length;
    }

    /** A task; null where it was removed. */
    public @Nullable Task get(int index) {
        return tasks[index];
    }

    /** A task that was not removed and has stages. */
    public Task.Compute compute(int index) {
        return (Task.Compute) Objects.requireNonNull(tasks[index]);
    }

    /** The tasks in their order, without gaps. */
    public List<Task> tasks() {
        List<Task> all = new ArrayList<>(count);
        for (Task task : tasks) {
            if (task != null) {
                all.add(task);
            }
        }
        return all;
    }

    /** Puts a task in the place of another one, or into a gap. */
    public void put(int index, Task task) {
        set(index, task);
    }

    /** Removes a task. */
    public void remove(int index) {
        set(index, null);
    }

    private void set(int index, @Nullable Task task) {
        Task before = tasks[index];
        if (uses != null) {
            uses.change(index, before, task);
        }
        count += (task == null ? 0 : 1) - (before == null ? 0 : 1);
        tasks[index] = task;
    }

    /** Puts other tasks in the place of all, for a pass that inserts or moves tasks. */
    public void replaceAll(List<Task> others) {
        tasks = others.toArray(Task[]::new);
        count = tasks.length;
        uses = null;
    }

    /** Closes the gaps that removed tasks have left. */
    public void compact() {
        if (count < tasks.length) {
            replaceAll(tasks());
        }
    }

    private Uses uses() {
        Uses known = uses;
        if (known == null) {
            known = new Uses(tasks, values);
            uses = known;
        }
        return known;
    }

    /** The tasks that read a value's memory. */
    public TaskSet readers(int value) {
        return Uses.get(uses().readers, values.memory(value));
    }

    /** The tasks that write a value's memory. */
    public TaskSet writers(int value) {
        return Uses.get(uses().writers, values.memory(value));
    }

    /** Whether some task other than the given one reads a value's memory. */
    public boolean isReadElsewhere(int value, int task) {
        return !readers(value).isAtMost(task);
    }

    /** Whether a value is temporary and only one task writes it. */
    public boolean isTemporaryOf(int value, int writer) {
        return values.isTemporary(value) && writers(value).isOnly(writer);
    }

    /** Whether a value is temporary and one task writes it, whichever that is. */
    public boolean isTemporaryOfOne(int value) {
        return values.isTemporary(value) && writers(value).size() == 1;
    }

    /**
     * Compares the index of uses with one that is built from the tasks.
     *
     * @return the first value whose readers or writers are not those of the index, in words; null if the index is right
     */
    public @Nullable String wrongUse() {
        Uses known = uses;
        if (known == null) {
            return null;
        }
        Uses right = new Uses(tasks, values);
        for (int value = 0; value < values.size(); value++) {
            String wrong = difference(value, "readers", Uses.get(known.readers, value), Uses.get(right.readers, value));
            if (wrong == null) {
                wrong = difference(value, "writers", Uses.get(known.writers, value), Uses.get(right.writers, value));
            }
            if (wrong != null) {
                return wrong;
            }
        }
        return null;
    }

    private @Nullable String difference(int value, String what, TaskSet known, TaskSet right) {
        return Arrays.equals(known.toArray(), right.toArray())
                ? null
                : "the " + what + " of value '" + values.name(value) + "' are tasks " + right
                        + ", but the index of uses has " + known;
    }
}
