package io.seriatim.engine;

import io.seriatim.engine.sync.Padding;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The ready operations of one lane, ordered by descending priority and, within a priority, by the time at which they
 * became ready. Guarded by the tracker lock.
 *
 * <p>
 * Operations of the default priority are in a list, the others in a pairing heap (Fredman, Sedgewick, Sleator, Tarjan,
 * The Pairing Heap: A New Form of Self-Adjusting Heap, Algorithmica 1, 1986). Operations are intrusive nodes of both,
 * so that nothing is allocated.
 */
final class ReadyQueue extends Padding.Before implements OpSource {
    private @Nullable Operation first;
    private @Nullable Operation last;
    private @Nullable Operation root;
    private int size;
    private int sequence;
    @SuppressWarnings("unused")
    private long p8, p9, p10, p11, p12, p13, p14, p15;

    /**
     * Creates an empty queue.
     *
     * @param first
     *            the first sequence number; sequence numbers wrap around and are compared by their difference
     */
    ReadyQueue(int first) {
        sequence = first;
    }

    boolean isEmpty() {
        return size == 0;
    }

    void add(Operation op) {
        size++;
        op.link = null;
        if (isOrdinary(op)) {
            Operation l = last;
            if (l == null) {
                first = op;
            } else {
                l.link = op;
            }
            last = op;
        } else {
            op.readySequence = sequence++;
            Operation r = root;
            root = r == null ? op : merge(r, op);
        }
    }

    /**
     * Returns an operation that {@link #poll} removed and that has not started. It goes before all others of its
     * priority, so several are put back in the reverse of the order in which they were removed.
     */
    void putBack(Operation op) {
        if (isOrdinary(op)) {
            size++;
            op.link = first;
            first = op;
            if (last == null) {
                last = op;
            }
        } else {
            add(op);
        }
    }

    @Override
    public @Nullable Operation poll() {
        Operation r = root;
        Operation f = first;
        if (r != null && (f == null || before(r, f))) {
            root = mergeAll(child(r));
            r.following = null;
            size--;
            return r;
        }
        if (f != null) {
            first = f.link;
            if (first == null) {
                last = null;
            }
            f.link = null;
            size--;
        }
        return f;
    }

    /** Returns whether the queue holds an operation whose priority is not the default. */
    boolean hasPriorities() {
        return root != null;
    }

    /** Moves all operations to an empty queue, in constant time. */
    void moveTo(ReadyQueue other) {
        other.first = first;
        other.last = last;
        other.root = root;
        other.size = size;
        first = null;
        last = null;
        root = null;
        size = 0;
    }

    @Override
    public void forEach(Consumer<Operation> look) {
        for (Operation op = first; op != null; op = op.link) {
            look.accept(op);
        }
        Deque<Operation> heap = new ArrayDeque<>();
        for (Operation op = root; op != null; op = heap.poll()) {
            look.accept(op);
            for (Operation under = child(op); under != null; under = under.link) {
                heap.push(under);
            }
        }
    }

    private static @Nullable Operation child(Operation op) {
        return (Operation) op.following;
    }

    private static boolean isOrdinary(Operation op) {
        return op.priority == 0 && !op.has(Operation.URGENT);
    }

    private static boolean before(Operation a, Operation b) {
        boolean urgent = a.has(Operation.URGENT);
        if (urgent != b.has(Operation.URGENT)) {
            return urgent;
        }
        return a.priority != b.priority ? a.priority > b.priority : a.readySequence - b.readySequence < 0;
    }

    private static Operation merge(Operation a, Operation b) {
        Operation top = before(a, b) ? a : b;
        Operation under = top == a ? b : a;
        under.link = child(top);
        top.following = under;
        top.link = null;
        return top;
    }

    /** Merges siblings pairwise from the left, then the pairs from the right. */
    private static @Nullable Operation mergeAll(@Nullable Operation siblings) {
        Operation pairs = null;
        Operation rest = siblings;
        while (rest != null) {
            Operation a = rest;
            Operation b = a.link;
            if (b == null) {
                a.link = pairs;
                pairs = a;
                break;
            }
            rest = b.link;
            Operation pair = merge(a, b);
            pair.link = pairs;
            pairs = pair;
        }
        Operation merged = null;
        while (pairs != null) {
            Operation following = pairs.link;
            merged = merged == null ? pairs : merge(merged, pairs);
            pairs = following;
        }
        if (merged != null) {
            merged.link = null;
        }
        return merged;
    }
}
