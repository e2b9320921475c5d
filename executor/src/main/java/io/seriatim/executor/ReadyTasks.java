package io.seriatim.executor;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.Arrays;

/** Tasks that are ready, the most urgent first: a binary heap of numbers. For many threads. */
final class ReadyTasks {
    private final Urgency urgency;
    @GuardedBy("this")
    private int[] heap = new int[16];
    @GuardedBy("this")
    private int size;

    ReadyTasks(Urgency urgency) {
        this.urgency = urgency;
    }

    synchronized void put(int task) {
        if (size == heap.length) {
            heap = Arrays.copyOf(heap, 2 * size);
        }
        int at = size++;
        while (at > 0 && urgency.of(heap[(at - 1) / 2]) < urgency.of(task)) {
            heap[at] = heap[(at - 1) / 2];
            at = (at - 1) / 2;
        }
        heap[at] = task;
    }

    /** The most urgent one, or −1 if there is none. */
    synchronized int take() {
        if (size == 0) {
            return -1;
        }
        int first = heap[0];
        int moved = heap[--size];
        int at = 0;
        for (int child = 1; child < size; child = 2 * at + 1) {
            if (child + 1 < size && urgency.of(heap[child + 1]) > urgency.of(heap[child])) {
                child++;
            }
            if (urgency.of(heap[child]) <= urgency.of(moved)) {
                break;
            }
            heap[at] = heap[child];
            at = child;
        }
        heap[at] = moved;
        return first;
    }
}
