package io.seriatim.executor.ir;

import java.util.Arrays;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The indexes of the tasks that read, or write, one piece of memory: ascending, each once. {@link TaskGraph} changes
 * it; to everyone else it is a view of the present state.
 *
 * <p>
 * The indexes lie in a sorted array. Once a large set is changed it becomes a tree, so that a pass that changes each of
 * the many readers of one value takes no quadratic time.
 */
public final class TaskSet {
    /** In place of an index that does not exist. */
    public static final int NONE = -1;

    static final TaskSet EMPTY = new TaskSet(0);

    /** The largest set whose elements are moved to make room for another. */
    static final int MOST_MOVED = 256;

    private int[] tasks;
    private int size;
    private @Nullable NavigableSet<Integer> tree;

    TaskSet(int capacity) {
        tasks = new int[capacity];
    }

    /** Adds an index that is larger than all others, or the largest one again. */
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

    /** Whether the set is, or now becomes, a tree. */
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

    /** How many tasks there are. */
    public int size() {
        return tree == null ? size : tree.size();
    }

    /** Whether there is no task. */
    public boolean isEmpty() {
        return size() == 0;
    }

    /** The first task, or {@link #NONE}. */
    public int first() {
        return atOrAfter(0);
    }

    /** The last task, or {@link #NONE}. */
    public int last() {
        return atOrBefore(Integer.MAX_VALUE);
    }

    /** Whether a task is in the set. */
    public boolean contains(int task) {
        return tree == null ? Arrays.binarySearch(tasks, 0, size, task) >= 0 : tree.contains(task);
    }

    /** Whether the set has one task, which is the given one. */
    public boolean isOnly(int task) {
        return size() == 1 && first() == task;
    }

    /** Whether every task of the set is the given one: also true of an empty set. */
    public boolean isAtMost(int task) {
        return isEmpty() || isOnly(task);
    }

    /** The first task from some index on, or {@link #NONE}. */
    public int atOrAfter(int task) {
        if (tree != null) {
            Integer found = tree.ceiling(task);
            return found == null ? NONE : found;
        }
        int at = Arrays.binarySearch(tasks, 0, size, task);
        int first = at < 0 ? -at - 1 : at;
        return first < size ? tasks[first] : NONE;
    }

    /** The last task up to some index, or {@link #NONE}. */
    public int atOrBefore(int task) {
        if (tree != null) {
            Integer found = tree.floor(task);
            return found == null ? NONE : found;
        }
        int at = Arrays.binarySearch(tasks, 0, size, task);
        int last = at < 0 ? -at - 2 : at;
        return last < 0 ? NONE : tasks[last];
    }

    /** Whether a task of the set lies between two indexes, both included. */
    public boolean isAnyIn(int from, int to) {
        int found = atOrAfter(from);
        return found != NONE && found <= to;
    }

    /** The tasks as they are now; later changes of the graph do not show. */
    public int[] toArray() {
        return tree == null
                ? Arrays.copyOf(tasks, size)
                : tree.stream().mapToInt(Integer::intValue).toArray();
    }

    /** The tasks, ascending; the graph must not be changed meanwhile. */
    public IntStream stream() {
        return tree == null ? Arrays.stream(tasks, 0, size) : tree.stream().mapToInt(Integer::intValue);
    }

    @Override
    public String toString() {
        return Arrays.toString(toArray());
    }
}
