package io.seriatim.executor.run;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.seriatim.executor.schedule.CriticalPaths;

/** A thread-safe priority queue of ready tasks: a binary heap of task indices, with the most urgent task first. */
final class ReadyTasks {
    private final CriticalPaths criticalPaths;
    @GuardedBy("this")
    private final int[] heap;
    /** Read without the lock only to check whether the queue is empty. */
    private volatile int size;

    /**
     * Creates a queue with a fixed capacity, so that {@link #put} cannot fail for lack of memory: if it failed on the
     * thread of a device, the task would be lost.
     */
    ReadyTasks(CriticalPaths criticalPaths, int most) {
        this.criticalPaths = criticalPaths;
        this.heap = new int[most];
    }

    boolean isEmpty() {
        return size == 0;
    }

    synchronized void clear() {
        size = 0;
    }

    synchronized void put(int task) {
        int at = size;
        size = at + 1;
        while (at > 0 && criticalPaths.isBefore(task, heap[(at - 1) / 2])) {
            heap[at] = heap[(at - 1) / 2];
            at = (at - 1) / 2;
        }
        heap[at] = task;
    }

    /** Removes and returns the most urgent task, or −1 if there is none. */
    int take() {
        return size == 0 ? -1 : takeFirst();
    }

    /**
     * Returns the given task, unless a queued task has a lower {@code scheduling_priority}; then queues the given task
     * and returns the other.
     */
    synchronized int exchange(int task) {
        if (size == 0 || !criticalPaths.precedes(heap[0], task)) {
            return task;
        }
        int first = takeFirst();
        put(task);
        return first;
    }

    private synchronized int takeFirst() {
        int left = size - 1;
        if (left < 0) {
            return -1;
        }
        int first = heap[0];
        int moved = heap[left];
        size = left;
        int at = 0;
        for (int child = 1; child < left; child = 2 * at + 1) {
            if (child + 1 < left && criticalPaths.isBefore(heap[child + 1], heap[child])) {
                child++;
            }
            if (criticalPaths.isBefore(moved, heap[child])) {
                break;
            }
            heap[at] = heap[child];
            at = child;
        }
        heap[at] = moved;
        return first;
    }
}
