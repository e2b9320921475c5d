package io.seriatim.graph.interpret;

import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A list of tensors that grows. Its elements are copies, which are only read.
 *
 * <p>
 * Copies of small tensors of one type and shape lie in common memory, one after the other, with room for as many again:
 * a loop that appends in each iteration allocates rarely, and a stack of its elements copies them in few pieces. Memory
 * that was given to an element is never given to another one, since lists that are copied have the same elements.
 */
final class TensorList {
    /** The most bytes of elements that lie in common memory, which lasts as long as one of them. */
    private static final long MOST_BYTES = 1 << 16;
    /** The fewest elements after which room for others is allocated. */
    private static final int FEWEST = 4;

    private final List<@Nullable Tensor> tensors;
    /** The memory of the latest elements; null if they have their own. */
    private @Nullable Tensor memory;
    private @Nullable TensorSpec spec;
    private long used;

    TensorList() {
        this(new ArrayList<>());
    }

    TensorList(List<@Nullable Tensor> tensors) {
        this.tensors = tensors;
    }

    List<@Nullable Tensor> tensors() {
        return tensors;
    }

    /** Sets an element to a copy of a tensor. */
    void putCopy(int index, Tensor value) {
        VariableValues.put(this, index, index < tensors.size() ? VariableValues.copy(value) : copy(value));
    }

    /** Returns a copy of a tensor that is appended. */
    private Tensor copy(Tensor value) {
        TensorSpec given = value.spec();
        if (!given.equals(spec)) {
            spec = given;
            memory = null;
        }
        long bytes = given.bytes();
        if (!given.isRowMajor() || bytes == 0 || tensors.size() < FEWEST || bytes * FEWEST > MOST_BYTES) {
            return VariableValues.copy(value);
        }
        Tensor room = memory;
        if (room == null || used + bytes > room.spec().bytes()) {
            long count = Math.min(tensors.size(), MOST_BYTES / bytes);
            room = Tensor.allocate(given.dtype(), count * given.shape().size());
            memory = room;
            used = 0;
        }
        Tensor copy = new Tensor(room.buffer(), used, given);
        used += bytes;
        VariableValues.copy(value, copy);
        return copy;
    }
}
