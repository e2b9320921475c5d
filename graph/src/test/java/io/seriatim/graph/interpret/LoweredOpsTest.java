package io.seriatim.graph.interpret;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.seriatim.graph.op.Lowered;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.Step;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Copy;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Which runs of an operation share their steps, and which steps are kept. */
class LoweredOpsTest {
    private final OpDesc op = concat();
    private final Environment environment = new Environment(null);
    private final LoweredOps ops = new LoweredOps();

    private static OpDesc concat() {
        return OpDesc.of("concat").in("X", "a", "b").out("Out", "out").attr("axis", 0).build();
    }

    private LoweredOps.@Nullable Key key(OpDesc of) {
        return LoweredOps.key(of, Operations.system().get(of.type()), environment);
    }

    private LoweredOps.Key key(Object a, @Nullable Object b) {
        environment.setHere("a", a);
        environment.removeHere("b");
        if (b != null) {
            environment.setHere("b", b);
        }
        return Objects.requireNonNull(key(op));
    }

    private LoweredOps.Entry entry(Step... steps) {
        return new LoweredOps.Entry(op, Map.of(), new Lowered(List.of(steps), List.of(), Map.of(), Map.of()));
    }

    private static Tensor floats(long... dims) {
        return Tensor.allocate(DType.FLOAT32, dims);
    }

    @Test
    void typesAndSizesDecideNotElements() {
        LoweredOps.Key first = key(Tensor.of(new float[]{1, 2}), floats(3));
        LoweredOps.Key same = key(Tensor.of(new float[]{3, 4}), floats(3));
        assertEquals(first, same);
        assertEquals(first.hashCode(), same.hashCode());
        assertNotEquals(first, key(floats(3), floats(2)));
        assertNotEquals(first, key(floats(2), null));
        assertNotEquals(first, key(Tensor.allocate(DType.INT32, 2), floats(3)));
        // As many numbers in the same order, but other dimensions.
        assertNotEquals(key(floats(2, 1), floats(3)), key(floats(2), floats(1, 3)));
    }

    @Test
    void anEqualOperationOfAnotherProgramHasItsOwnSteps() {
        LoweredOps.Key first = key(floats(2), floats(3));
        assertNotEquals(first, key(concat()));
        LoweredOps.Entry entry = entry();
        ops.put(first, entry);
        assertSame(entry, ops.find(key(floats(2), floats(3))));
        assertNull(ops.find(Objects.requireNonNull(key(concat()))));
    }

    @Test
    void randomOperationsAndListsHaveNoKey() {
        assertNull(key(OpDesc.of("uniform_random").out("Out", "out").attr("shape", new long[]{2}).build()));
        environment.setHere("a", new TensorList());
        environment.setHere("b", floats(1));
        assertNull(key(op));
    }

    @Test
    void theStepsThatWereUsedLastAreKept() {
        LoweredOps.Key first = key(floats(1), floats(3));
        LoweredOps.Key second = key(floats(2), floats(3));
        ops.put(first, entry());
        ops.put(second, entry());
        // Others fill the 4096 entries, while the first one stays in use.
        for (int i = 0; i < 4095; i++) {
            assertNotNull(ops.find(first), "after " + i);
            ops.put(key(floats(1), floats(4 + i)), entry());
        }
        assertNull(ops.find(second));
        assertNotNull(ops.find(first));
    }

    @Test
    void largeConstantsAreNotKept() {
        LoweredOps.Key key = key(floats(1), floats(3));
        for (long size : new long[]{1025, 1024}) {
            Tensor constant = floats(size);
            Operand operand = new Operand(new Operand.Source.Constant(constant), 0, constant.spec());
            Operand out = new Operand(new Operand.Source.Output("Out", 0), 0, constant.spec());
            ops.put(key, entry(new Step(new Step.Work.Compute(Copy.PLAIN), List.of(operand), List.of(out))));
            assertEquals(size == 1024, ops.find(key) != null, "bytes: " + 4 * size);
        }
    }
}
