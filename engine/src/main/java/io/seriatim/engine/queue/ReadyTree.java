package io.seriatim.engine.queue;

import io.seriatim.engine.dependency.Operation;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Ready operations with numbers from 0 on, of which any can be taken. Guarded by the tracker lock.
 *
 * <p>
 * A complete binary tree whose nodes are the operations themselves, so that nothing is allocated. The path to the
 * node with number <i>n</i> is in the bits of <i>n</i> + 1, below the highest one, as in a binary heap in an array.
 */
public final class ReadyTree implements OpSource {
    private @Nullable Operation root;
    private int size;

    public int size() {
        return size;
    }

    /** Adds an operation, with the highest number. */
    public void add(Operation op) {
        op.link = null;
        op.following = null;
        size++;
        put(size, op);
    }

    /** Takes an operation out; the last one gets its number. */
    public Operation remove(int number) {
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

    /** Looks at all in the order of their numbers. */
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
