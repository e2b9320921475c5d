package io.seriatim.tensor.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Place;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.network.Update;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A step with a flag: true leaves everything as it is, false is the step without. */
class SkippedUpdateTest {
    private static final int SIZE = 2 * KernelContext.TILE + 3;

    static List<Update> steps() {
        return List.of(new Update.Sgd(), new Update.Momentum(0.9f, true, 0.1f),
                new Update.Adam(0.9f, 0.99f, 1e-6f, 0.1f),
                new Update.Adagrad(1e-6f), new Update.Adadelta(0.9f, 1e-6f), new Update.Adamax(0.9f, 0.99f, 1e-6f),
                new Update.RmsProp(0.9f, 0.5f, 0.9f, true), new Update.Lamb(0.9f, 0.99f, 1e-6f, 0.1f));
    }

    private static Tensor[] operands(Update step, DType dtype) {
        Random random = new Random(7);
        Tensor[] operands = new Tensor[step.skip()];
        for (int i = 0; i < operands.length; i++) {
            boolean single = i == 2 || i >= 3 + step.accumulators();
            operands[i] = single
                    ? Tensor.of(dtype, new double[]{0.5}, 1)
                    : Tensor.of(dtype, random.doubles(SIZE, 0.1, 0.5).toArray(), SIZE);
        }
        return operands;
    }

    private static Tensor[] run(Update step, DType dtype, Tensor... flag) {
        Tensor[] operands = operands(step, dtype);
        Tensor[] all = Arrays.copyOf(operands, operands.length + flag.length);
        System.arraycopy(flag, 0, all, operands.length, flag.length);
        TensorSpec[] specs = Arrays.stream(all).map(Tensor::spec).toArray(TensorSpec[]::new);
        assertEquals(0, step.infer(specs).length);
        try (Kernel kernel = Kernels.system().prepare(step, Place.CPU, specs)) {
            kernel.run(all, KernelContext.current());
        }
        return all;
    }

    @ParameterizedTest
    @MethodSource("steps")
    void changesAllOrNothing(Update step) {
        for (DType dtype : List.of(DType.FLOAT32, DType.FLOAT64)) {
            Tensor[] before = operands(step, dtype);
            Tensor[] plain = run(step, dtype);
            Tensor[] done = run(step, dtype, Tensor.of(DType.BOOL, new long[]{0}, 1));
            Tensor[] skipped = run(step, dtype, Tensor.of(DType.BOOL, new long[]{1}));
            assertFalse(Arrays.equals(before[0].toDoubleArray(), plain[0].toDoubleArray()), step + " does nothing");
            for (int i = 0; i < before.length; i++) {
                assertArrayEquals(plain[i].toDoubleArray(), done[i].toDoubleArray(),
                        step + " " + dtype + ", operand " + i);
                assertArrayEquals(before[i].toDoubleArray(), skipped[i].toDoubleArray(),
                        step + " " + dtype + ", operand " + i);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("steps")
    void doesNotChangeTheFlag(Update step) {
        assertTrue(step.mutates(0));
        assertFalse(step.mutates(step.skip()));
        assertEquals(step.accumulators() + step.scalars() > 0, step.mutates(step.skip() - 1));
    }

    @Test
    void theFlagIsOneBool() {
        assertThrows(IllegalArgumentException.class,
                () -> run(new Update.Sgd(), DType.FLOAT32, Tensor.of(new float[]{1}, 1)));
        IllegalArgumentException refusal = assertThrows(IllegalArgumentException.class,
                () -> run(new Update.Sgd(), DType.FLOAT32, Tensor.of(DType.BOOL, new long[]{0, 0}, 2)));
        assertTrue(String.valueOf(refusal.getMessage()).contains("must be one bool"),
                String.valueOf(refusal.getMessage()));
    }
}
