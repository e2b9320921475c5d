package io.seriatim.executor.ir;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The tasks of a plan during compilation, their values, and the use-def index, which contains the tasks that read and
 * write each value's memory. All changes of tasks go through the graph, so that the index is always consistent. No
 * other class keeps a table from values to tasks. Not thread-safe.
 *
 * <p>
 * Tasks are numbered in program order: a task may read only values that a task with a lower number has written, or that
 * exist before the run. {@link #put} and {@link #remove} keep all numbers and update the use-def index immediately; a
 * removed task leaves a gap. {@link #replaceAll} replaces all tasks, and {@link #compact} closes the gaps; after
 * either, the use-def index is rebuilt at its next use.
 *
 * <p>
 * Invariant: the readers and writers of a memory are exactly the tasks whose {@link Task#reads} and {@link Task#writes}
 * contain a value with this memory. Therefore, neither these arrays nor the memory of a value may change after a graph
 * has been created; {@link #wrongUse} detects violations.
 */
public final class TaskGraph {
    private final ValueTable values;
    private @Nullable Task[] tasks;
    private int count;
    /** Null if it must be rebuilt before the next use. */
    private @Nullable Uses uses;

    /** The use-def index. Both arrays are indexed by memory; an element is null if no task uses that memory. */
    private static final class Uses {
        private final ValueTable values;
        private @Nullable TaskSet[] readers;
        private @Nullable TaskSet[] writers;
        /** By memory, the number of the last change whose new task accesses it. */
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
     * Creates a graph.
     *
     * @param tasks
     *            the tasks, in program order
     * @param values
     *            the values, whose memory must not change afterwards
     */
    public TaskGraph(List<Task> tasks, ValueTable values) {
        this.tasks = tasks.toArray(Task[]::new);
        this.count = this.tasks.length;
        this.values = values;
    }

    /** Returns the table of values, to which values may be added. */
    public ValueTable values() {
        return values;
    }

    /** Returns the number of tasks, including gaps. */
    public int size() {
        return tasks.length;
    }

    /** Returns a task; null if it was removed. */
    public @Nullable Task get(int index) {
        return tasks[index];
    }

    /** Returns a task that was not removed and has stages. */
    public Task.Compute compute(int index) {
        return (Task.Compute) Objects.requireNonNull(tasks[index]);
    }

    /** Returns the tasks in order, without gaps. */
    public List<Task> tasks() {
        List<Task> all = new ArrayList<>(count);
        for (Task task : tasks) {
            if (task != null) {
                all.add(task);
            }
        }
        return all;
    }

    /** Replaces a task, or fills a gap. */
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

    /** Replaces all tasks, for a pass that inserts or moves tasks. */
    public void replaceAll(List<Task> others) {
        tasks = others.toArray(Task[]::new);
        count = tasks.length;
        uses = null;
    }

    /** Closes the gaps of removed tasks. */
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

    /** Returns the tasks that read a value's memory. */
    public TaskSet readers(int value) {
        return Uses.get(uses().readers, values.memory(value));
    }

    /** Returns the tasks that write a value's memory. */
    public TaskSet writers(int value) {
        return Uses.get(uses().writers, values.memory(value));
    }

    /** Returns whether any task other than the given one reads a value's memory. */
    public boolean isReadElsewhere(int value, int task) {
        return !readers(value).isAtMost(task);
    }

    /** Returns whether a value is temporary and only the given task writes it. */
    public boolean isTemporaryOf(int value, int writer) {
        return values.isTemporary(value) && writers(value).isOnly(writer);
    }

    /** Returns whether a task, a later run or whoever started the run reads a value. */
    public boolean isNeeded(int value) {
        return values.isWanted(value) || values.isPersistable(value) || !readers(value).isEmpty();
    }

    /** Returns whether a value is temporary and exactly one task writes it. */
    public boolean isTemporaryOfOne(int value) {
        return values.isTemporary(value) && writers(value).size() == 1;
    }

    /**
     * Compares the use-def index with one that is rebuilt from the tasks.
     *
     * @return a description of the first inconsistent value; null if the index is consistent
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
                        + ", but the use-def index has " + known;
    }
}
