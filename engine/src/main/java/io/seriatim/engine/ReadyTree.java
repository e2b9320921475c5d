package io.seriatim.engine;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * An indexed collection of ready operations, with removal by index. Guarded by the tracker lock.
 *
 * <p>
 * A complete binary tree whose nodes are the operations themselves, so that nothing is allocated. The bits of <i>n</i>
 * + 1 below the highest one are the path to the node with index <i>n</i>, as in a binary heap in an array. Guarded by
 * the tracker lock.
 */
final class ReadyTree implements OpSource {
    private @Nullable Operation root;
    private int size;

    int size() {
        return size;
    }

    /** Adds an operation at the highest index. */
    void add(Operation op) {
        op.link = null;
        op.following = null;
        size++;
        put(size, op);
    }

    /** Removes and returns the operation at an index; the last operation moves to that index. */
    Operation remove(int number) {
        if (number < 0 || number >= size) {
            throw new IndexOutOfBoundsException("operation " + number + " of " + size);
        }
        Operation removed = at(number + 1);
        Operation last = at(size);
        put(size, null);
        size--;
        if (removed != last) {
            last.link = removed.link;
            last.following = removed.following;
            put(number + 1, last);
        }
        removed.link = null;
        removed.following = null;
        return removed;
    }

    @Override
    public @Nullable Operation poll() {
        return size == 0 ? null : remove(size - 1);
    }

    /** Passes each operation to {@code look}, in the order of the indices. */
    @Override
    public void forEach(Consumer<Operation> look) {
        for (int place = 1; place <= size; place++) {
            look.accept(at(place));
        }
    }

    private Operation at(int place) {
        Operation op = root;
        for (int bit = Integer.highestOneBit(place) >> 1; bit != 0 && op != null; bit >>= 1) {
            op = (place & bit) == 0 ? op.link : (Operation) op.following;
        }
        if (op == null) {
            throw new IllegalStateException("no operation at place " + place + " of " + size);
        }
        return op;
    }

    private void put(int place, @Nullable Operation op) {
        if (place == 1) {
            root = op;
            return;
        }
        Operation parent = at(place >> 1);
        if ((place & 1) == 0) {
            parent.link = op;
        } else {
            parent.following = op;
        }
    }
}
