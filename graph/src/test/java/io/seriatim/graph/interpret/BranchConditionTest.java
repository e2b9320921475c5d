package io.seriatim.graph.interpret;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class BranchConditionTest {
    private final Program program = new Program();
    private final Block block = program.addBlock(0, null);

    private static VarDesc matrix(String name) {
        return VarDesc.of(name, VarType.dense(DType.FLOAT32, -1, 2));
    }

    private static OpDesc branch(boolean isScalar) {
        return OpDesc.of("conditional_block").in("Cond", "c").in("Input", "x").out("Out", "y").out("Scope", "s")
                .attr("sub_block", 2).attr("is_scalar_condition", isScalar).build();
    }

    private @Nullable BranchCondition of(OpDesc op, String... reads) {
        block.setOps(List.of(op));
        return BranchCondition.of(block, 0, List.of(reads), List.of("y", "s"));
    }

    private void declare() {
        block.put(matrix("y")).put(VarDesc.of("s", new VarType.Other(VarType.STEP_SCOPES)));
    }

    @Test
    void aBranchIsSkippedIfItsConditionIsFalse() {
        declare();
        BranchCondition condition = Objects.requireNonNull(of(branch(true), "x", "c"));
        Tensor x = Tensor.of(new float[2], 1, 2);
        assertEquals(true, condition.isFalse(new Object[]{x, Tensor.of(DType.BOOL, new double[]{0})}));
        assertEquals(true, condition.isFalse(new Object[]{null, Tensor.of(new long[]{0}, 1, 1)}));
        assertEquals(false, condition.isFalse(new Object[]{x, Tensor.of(DType.BOOL, new double[]{1})}));
        assertEquals(false, condition.isFalse(new Object[]{x, null}), "no condition");
        assertEquals(false, condition.isFalse(new Object[]{x, Tensor.of(new long[2], 2)}), "two conditions");
    }

    /** A variable that is there before keeps its value if the branch is not taken. */
    @Test
    void aBranchWhoseResultsMayHaveValuesIsRun() {
        assertNull(of(branch(true), "x", "c"), "results that are not declared");
        declare();
        assertNotNull(of(branch(true), "x", "c"));
        assertNull(of(branch(true), "x", "c", "y"), "a result that is read");
        assertNull(of(branch(true), "x"), "no condition");
        assertNull(of(branch(false), "x", "c"), "a condition by the number of elements");
        assertNull(of(OpDesc.of("assign").in("X", "c").out("Out", "y").build(), "x", "c"), "another operation");
        program.global().put(matrix("y"));
        assertNull(of(branch(true), "x", "c"), "a result that is declared around the block");
    }
}
