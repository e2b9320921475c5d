package io.seriatim.graph.interpret;

import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.Tensor;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An operation that sets an element of a list, for runs on given values instead of variables by name. Stateless.
 */
public final class ListWrite {
    private final Block block;
    private final int index;
    private final int list;
    private final int position;
    private final int element;

    private ListWrite(Block block, int index, int list, int position, int element) {
        this.block = block;
        this.index = index;
        this.list = list;
        this.position = position;
        this.element = element;
    }

    /** Returns an operation of a block; null if it does not only set an element of a list that it is given. */
    static @Nullable ListWrite of(Block block, int index, List<String> reads, List<String> writes) {
        OpDesc op = block.ops().get(index);
        if (!op.type().equals("write_to_array") || writes.size() != 1
                || writes.getFirst().contains(GradientRule.SUFFIX)) {
            return null;
        }
        int list = reads.indexOf(writes.getFirst());
        int position = reads.indexOf(op.input("I").getFirst());
        int element = reads.indexOf(op.input("X").getFirst());
        return list < 0 || position < 0 || element < 0 ? null : new ListWrite(block, index, list, position, element);
    }

    /**
     * The list.
     *
     * @return its index among the values that the operation reads
     */
    public int list() {
        return list;
    }

    /**
     * Copies the element into the list.
     *
     * @param operands
     *            for each name that the operation reads, its value; null for a name without value
     * @return false if nothing was done: there is no list yet, or the element is no tensor
     */
    public boolean run(@Nullable Object[] operands) {
        if (!(operands[list] instanceof TensorList given) || !(operands[position] instanceof Tensor at)
                || !(operands[element] instanceof Tensor value)) {
            return false;
        }
        try {
            given.putCopy(TensorListInstructions.index(at), value);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(BlockRunner.named(block, index, e), e);
        }
        return true;
    }
}
