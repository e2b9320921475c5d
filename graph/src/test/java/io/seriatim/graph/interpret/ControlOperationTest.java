package io.seriatim.graph.interpret;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.DeviceMemoryException;
import io.seriatim.graph.program.Attribute;
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

class ControlOperationTest {
    private final Program program = new Program();
    private final Block block = program.addBlock(0, null);
    private final Block inner = program.addBlock(1, null);

    private static VarDesc matrix(String name) {
        return VarDesc.of(name, VarType.dense(DType.FLOAT32, -1, 2));
    }

    private static OpDesc branch(boolean isScalar) {
        return OpDesc.of("conditional_block").in("Cond", "c").in("Input", "x").out("Out", "y").out("Scope", "s")
                .attr("sub_block", new Attribute.BlockRef(2)).attr("is_scalar_condition", isScalar).build();
    }

    private static OpDesc loop() {
        return OpDesc.of("while").in("Condition", "c").in("X", "x").out("Out", "y").out("StepScopes", "s")
                .attr("sub_block", new Attribute.BlockRef(2)).build();
    }

    private @Nullable ControlOperation of(OpDesc op, String... reads) {
        block.setOps(List.of(op));
        return ControlOperation.of(block, 0, List.of(reads), List.of("y", "s"));
    }

    private void declare() {
        block.put(matrix("y")).put(VarDesc.of("s", new VarType.Other(VarType.STEP_SCOPES)));
    }

    @Test
    void theConditionSaysWhetherTheBlockIsRun() {
        declare();
        ControlOperation operation = Objects.requireNonNull(of(branch(true), "x", "c"));
        assertSame(inner, operation.block());
        assertEquals(false, operation.isLoop());
        assertEquals(1, operation.condition());
        assertEquals(true, Objects.requireNonNull(of(loop(), "c", "x", "y")).isLoop());
        assertEquals(false, operation.isTrue(Tensor.of(DType.BOOL, new double[]{0})));
        assertEquals(true, operation.isTrue(Tensor.of(new long[]{3}, 1, 1)));
    }

    private static String message(Throwable failure) {
        return Objects.requireNonNull(failure.getMessage());
    }

    @Test
    void aWrongConditionIsReportedWithThePlaceOfTheOperation() {
        declare();
        ControlOperation operation = Objects.requireNonNull(of(loop(), "x", "c", "y"));
        for (Object wrong : new Object[]{Tensor.of(new long[2], 2), "text"}) {
            String message = message(assertThrows(IllegalArgumentException.class, () -> operation.isTrue(wrong)));
            assertTrue(message.contains("Block 1, operation 0 (while)") && message.contains("'c'"), message);
        }
        String message = message(assertThrows(IllegalArgumentException.class, () -> operation.isTrue(null)));
        assertTrue(message.contains("Variable 'c' has no value"), message);
        RuntimeException full = operation.named(new DeviceMemoryException("full"));
        assertTrue(message(assertInstanceOf(DeviceMemoryException.class, full)).contains("(while): full"),
                full::toString);
        IllegalStateException other = new IllegalStateException("other");
        assertSame(other, operation.named(other));
    }

    @Test
    void anOperationWhoseResultsMayHaveOtherValuesIsRunByName() {
        assertNull(of(branch(true), "x", "c"), "results that are not declared");
        declare();
        assertNotNull(of(branch(true), "x", "c"));
        assertNotNull(of(branch(true), "x", "c", "y"), "a result that is read");
        assertNull(of(loop(), "x"), "no condition");
        assertNull(of(branch(false), "x", "c"), "a condition by the number of elements");
        assertNull(of(OpDesc.of("while").in("Condition", "c").out("Out", "y").build(), "x", "c"), "no block");
        assertNull(of(OpDesc.of("assign").in("X", "c").out("Out", "y").build(), "x", "c"), "another operation");
        program.global().put(matrix("y"));
        assertNull(of(loop(), "x", "c"), "a result that is declared around the block");
        assertNotNull(of(loop(), "x", "c", "y"), "its value is given");
    }
}
