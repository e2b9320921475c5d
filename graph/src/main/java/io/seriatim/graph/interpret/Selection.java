package io.seriatim.graph.interpret;

import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.Tensor;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An operation that chooses one of several values, for runs on given values instead of variables by name. Stateless.
 */
public final class Selection {
    private final int[] choices;
    private final int mask;

    private Selection(int[] choices, int mask) {
        this.choices = choices;
        this.mask = mask;
    }

    /** Returns an operation of a block; null if it does not only choose between values that it is given. */
    static @Nullable Selection of(Block block, int index, List<String> reads, List<String> writes) {
        OpDesc op = block.ops().get(index);
        if (!op.type().equals("select_input") || writes.size() != 1 || op.input("X").contains(GradientRule.EMPTY)) {
            return null;
        }
        int[] choices = op.input("X").stream().mapToInt(reads::indexOf).toArray();
        int mask = reads.indexOf(op.input("Mask").getFirst());
        for (int choice : choices) {
            if (choice < 0) {
                return null;
            }
        }
        return mask < 0 ? null : new Selection(choices, mask);
    }

    /**
     * Chooses a value.
     *
     * @param operands
     *            for each name that the operation reads, its value; null for a name without value
     * @return the index of the chosen value among them; −1 if it is no tensor, or if the mask is not right
     */
    public int choose(@Nullable Object[] operands) {
        if (!(operands[mask] instanceof Tensor at) || at.shape().size() != 1 || !at.place().isHost()) {
            return -1;
        }
        long choice = at.getLong(new long[at.shape().rank()]);
        return choice < 0 || choice >= choices.length || !(operands[choices[(int) choice]] instanceof Tensor)
                ? -1
                : choices[(int) choice];
    }
}
