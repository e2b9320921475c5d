package io.seriatim.graph.interpret;

import io.seriatim.graph.autodiff.ControlGradients;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.Tensor;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A branch or a loop, for runs of its block on given values instead of variables by name. Whoever has it runs the block
 * and passes the values on. Stateless.
 */
public final class ControlOperation {
    private final Block around;
    private final int index;
    private final Block block;
    private final boolean isLoop;
    private final String name;
    private final int condition;

    private ControlOperation(Block around, int index, Block block, boolean isLoop, String name, int condition) {
        this.around = around;
        this.index = index;
        this.block = block;
        this.isLoop = isLoop;
        this.name = name;
        this.condition = condition;
    }

    /**
     * Returns that of an operation of a block whose steps no gradient reads; null if the operation is neither a branch
     * nor a loop, if it has several conditions, or if a variable that it writes may have a value that it is not given.
     */
    static @Nullable ControlOperation of(Block around, int index, List<String> reads, List<String> writes) {
        OpDesc op = around.ops().get(index);
        boolean isLoop = op.type().equals("while");
        boolean isBranch = op.type().equals("conditional_block")
                && Instructions.attrs(op).getBool("is_scalar_condition");
        if ((!isLoop && !isBranch) || around.forward() != Block.NONE || ControlGradients.block(op) <= 0) {
            return null;
        }
        for (String written : writes) {
            if (!reads.contains(written)
                    && (around.var(written) == null || BranchCondition.isAround(around, written))) {
                return null;
            }
        }
        String name = op.input(isLoop ? "Condition" : "Cond").getFirst();
        int condition = reads.indexOf(name);
        return condition < 0
                ? null
                : new ControlOperation(around, index, ControlInstructions.block(around.program(), op), isLoop, name,
                        condition);
    }

    /**
     * The block.
     *
     * @return what is run if the condition is true
     */
    public Block block() {
        return block;
    }

    /**
     * Whether the block is run again as long as the condition is true.
     *
     * @return false for a branch
     */
    public boolean isLoop() {
        return isLoop;
    }

    /**
     * The condition.
     *
     * @return its index among the values that the operation reads
     */
    public int condition() {
        return condition;
    }

    /**
     * Whether the block is to be run.
     *
     * @param value
     *            the condition; null if it has no value
     * @return whether it is not zero
     * @throws IllegalArgumentException
     *             if it is not a tensor of one element
     */
    public boolean isTrue(@Nullable Object value) {
        if (value instanceof Tensor tensor && tensor.shape().size() == 1) {
            return tensor.getLong(new long[tensor.shape().rank()]) != 0;
        }
        Environment only = new Environment(null);
        if (value != null) {
            only.setHere(name, value);
        }
        try {
            return ControlInstructions.truth(name, only);
        } catch (IllegalArgumentException e) {
            throw named(e);
        }
    }

    /**
     * The failure of a run of the block, with the place of the operation if its message lacks that.
     *
     * @param e
     *            the failure
     * @return an exception of the same type, or the failure itself
     */
    public RuntimeException named(RuntimeException e) {
        return BlockRunner.failure(around, index, e);
    }
}
