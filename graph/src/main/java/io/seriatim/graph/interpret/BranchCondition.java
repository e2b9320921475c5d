package io.seriatim.graph.interpret;

import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.Tensor;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The condition of a branch, for runs on given values: a branch that is not taken does nothing, so that no variable
 * need be set by name. Stateless.
 */
public final class BranchCondition {
    private final int condition;

    private BranchCondition(int condition) {
        this.condition = condition;
    }

    /**
     * Returns that of an operation of a block whose steps no gradient reads; null if the operation is no branch, if a
     * branch that is not taken leaves its results the values that they have before, or if it has several conditions.
     */
    static @Nullable BranchCondition of(Block block, int index, List<String> reads, List<String> writes) {
        OpDesc op = block.ops().get(index);
        if (!op.type().equals("conditional_block") || !Instructions.attrs(op).getBool("is_scalar_condition")
                || block.forward() != Block.NONE) {
            return null;
        }
        for (String name : writes) {
            if (reads.contains(name) || block.var(name) == null || isAround(block, name)) {
                return null;
            }
        }
        int condition = reads.indexOf(op.input("Cond").getFirst());
        return condition < 0 ? null : new BranchCondition(condition);
    }

    /** Returns whether a block around a block has a variable. */
    static boolean isAround(Block block, String name) {
        return block.parent() != Block.NONE && block.program().block(block.parent()).owner(name) != null;
    }

    /**
     * Whether the branch does nothing in a run.
     *
     * @param operands
     *            for each name that the operation reads, its value; null for a name without value
     * @return false also if the condition is not one element, which running the operation reports
     */
    public boolean isFalse(@Nullable Object[] operands) {
        return operands[condition] instanceof Tensor truth && truth.shape().size() == 1 && truth.place().isHost()
                && truth.getLong(new long[truth.shape().rank()]) == 0;
    }
}
