package io.seriatim.executor.run;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.seriatim.executor.schedule.CriticalPaths;

/** Tasks that are ready, the most urgent first: a binary heap of numbers. For many threads. */
final class ReadyTasks {
    private final CriticalPaths urgency;
    @GuardedBy("this")
    private final int[] heap;
    /** Read without the lock only to see that there is nothing. */
    private volatile int size;

    /**
     * With room for so many, so that to put one in cannot fail: who puts it in may be a device's thread, and nobody
     * else would.
     */
    ReadyTasks(CriticalPaths urgency, int most) {
        this.urgency = urgency;
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
        while (at > 0 && urgency.isBefore(task, heap[(at - 1) / 2])) {
            heap[at] = heap[(at - 1) / 2];
            at = (at - 1) / 2;
        }
        heap[at] = task;
    }

    /** The most urgent one, or −1 if there is none. */
    int take() {
        return size == 0 ? -1 : takeFirst();
    }

    /** The given task, or one whose priority is before its own; then the given one waits here. */
    synchronized int exchange(int task) {
        if (size == 0 || !urgency.precedes(heap[0], task)) {
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
            if (child + 1 < left && urgency.isBefore(heap[child + 1], heap[child])) {
                child++;
            }
            if (urgency.isBefore(moved, heap[child])) {
                break;
            }
            heap[at] = heap[child];
            at = child;
        }
        heap[at] = moved;
        return first;
    }
}
