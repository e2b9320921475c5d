package io.seriatim.executor.ir;

import java.util.Arrays;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The sorted set of tasks that read, or write, one memory. {@link TaskGraph} modifies it; other classes use it as a
 * view of the current state.
 *
 * <p>
 * The set is a sorted array. A large set becomes a tree when it is first modified, so that a pass that modifies each of
 * the many readers of one value does not take quadratic time.
 */
public final class TaskSet {
    /** Stands for a task that does not exist. */
    public static final int NONE = -1;

    static final TaskSet EMPTY = new TaskSet(0);

    /** The maximum size of a set that is modified as an array. */
    static final int MOST_MOVED = 256;

    private int[] tasks;
    private int size;
    private @Nullable NavigableSet<Integer> tree;

    TaskSet(int capacity) {
        tasks = new int[capacity];
    }

    /** Adds a task that is greater than or equal to all others. */
    void append(int task) {
        if (size == 0 || tasks[size - 1] != task) {
            tasks[size++] = task;
        }
    }

    void add(int task) {
        if (isTree()) {
            tree().add(task);
            return;
        }
        int at = Arrays.binarySearch(tasks, 0, size, task);
        if (at < 0) {
            if (size == tasks.length) {
                tasks = Arrays.copyOf(tasks, Math.max(2, 2 * size));
            }
            System.arraycopy(tasks, -at - 1, tasks, -at, size + at + 1);
            tasks[-at - 1] = task;
            size++;
        }
    }

    void remove(int task) {
        if (isTree()) {
            tree().remove(task);
            return;
        }
        int at = Arrays.binarySearch(tasks, 0, size, task);
        if (at >= 0) {
            System.arraycopy(tasks, at + 1, tasks, at, size - at - 1);
            size--;
        }
    }

    /** Returns whether the set is a tree, or must become one before it is modified. */
    private boolean isTree() {
        return tree != null || size > MOST_MOVED;
    }

    private NavigableSet<Integer> tree() {
        NavigableSet<Integer> known = tree;
        if (known == null) {
            known = new TreeSet<>();
            for (int i = 0; i < size; i++) {
                known.add(tasks[i]);
            }
            tree = known;
            tasks = new int[0];
            size = 0;
        }
        return known;
    }

    /** Returns the number of tasks. */
    public int size() {
        return tree == null ? size : tree.size();
    }

    /** Returns whether the set is empty. */
    public boolean isEmpty() {
        return size() == 0;
    }

    /** Returns the first task, or {@link #NONE}. */
    public int first() {
        return atOrAfter(0);
    }

    /** Returns the last task, or {@link #NONE}. */
    public int last() {
        return atOrBefore(Integer.MAX_VALUE);
    }

    /** Returns whether the set contains a task. */
    public boolean contains(int task) {
        return tree == null ? Arrays.binarySearch(tasks, 0, size, task) >= 0 : tree.contains(task);
    }

    /** Returns whether the set contains only the given task. */
    public boolean isOnly(int task) {
        return size() == 1 && first() == task;
    }

    /** Returns whether the set is empty or contains only the given task. */
    public boolean isAtMost(int task) {
        return isEmpty() || isOnly(task);
    }

    /** Returns the first task that is not before the given one, or {@link #NONE}. */
    public int atOrAfter(int task) {
        if (tree != null) {
            Integer found = tree.ceiling(task);
            return found == null ? NONE : found;
        }
        int at = Arrays.binarySearch(tasks, 0, size, task);
        int first = at < 0 ? -at - 1 : at;
        return first < size ? tasks[first] : NONE;
    }

    /** Returns the last task that is not after the given one, or {@link #NONE}. */
    public int atOrBefore(int task) {
        if (tree != null) {
            Integer found = tree.floor(task);
            return found == null ? NONE : found;
        }
        int at = Arrays.binarySearch(tasks, 0, size, task);
        int last = at < 0 ? -at - 2 : at;
        return last < 0 ? NONE : tasks[last];
    }

    /** Returns whether the set contains a task between two tasks, both inclusive. */
    public boolean isAnyIn(int from, int to) {
        int found = atOrAfter(from);
        return found != NONE && found <= to;
    }

    /** Returns a snapshot of the tasks. */
    public int[] toArray() {
        return tree == null
                ? Arrays.copyOf(tasks, size)
                : tree.stream().mapToInt(Integer::intValue).toArray();
    }

    /** Returns the tasks in ascending order. The graph must not change while the stream is used. */
    public IntStream stream() {
        return tree == null ? Arrays.stream(tasks, 0, size) : tree.stream().mapToInt(Integer::intValue);
    }

    @Override
    public String toString() {
        return Arrays.toString(toArray());
    }
}
