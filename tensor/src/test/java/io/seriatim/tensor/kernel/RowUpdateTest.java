package io.seriatim.tensor.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Place;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.network.RowUpdate;
import io.seriatim.tensor.computation.network.Update;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Steps on some rows against the same step on the whole, with zeros for the other rows and sums for repeated ones. */
class RowUpdateTest {
    private static final int HEIGHT = 7;
    private static final long[] ROWS = {4, 1, 4, 6, 4};
    private static final List<Update> STEPS = List.of(new Update.Sgd(), new Update.Momentum(0.9f, true, 0.1f),
            new Update.Adam(0.9f, 0.99f, 1e-6f, 0.1f), new Update.Adagrad(1e-6f), new Update.Adadelta(0.9f, 1e-6f),
            new Update.Adamax(0.9f, 0.99f, 1e-6f), new Update.RmsProp(0.9f, 0.5f, 0.9f, true));

    @Test
    void touchesItsRowsOnly() {
        for (Update step : STEPS) {
            for (DType dtype : List.of(DType.FLOAT32, DType.FLOAT64)) {
                for (int width : new int[]{1, 13, KernelContext.TILE / 2, 2 * KernelContext.TILE + 3}) {
                    compare(step, dtype, width);
                }
            }
        }
    }

    private static void compare(Update step, DType dtype, int width) {
        Random random = new Random(width);
        double[] grads = random.doubles((long) ROWS.length * width, -1, 1).toArray();
        double[] whole = new double[HEIGHT * width];
        for (int i = 0; i < grads.length; i++) {
            whole[(int) ROWS[i / width] * width + i % width] += grads[i];
        }
        Tensor[] rows = operands(step, dtype, width, Tensor.of(dtype, grads, ROWS.length, width), new Random(1));
        Tensor[] all = operands(step, dtype, width, Tensor.of(dtype, whole, HEIGHT, width), new Random(1));
        double[] before = rows[0].toDoubleArray();
        Tensor[] withRows = Arrays.copyOf(rows, rows.length + 1);
        withRows[rows.length] = Tensor.of(ROWS, ROWS.length);
        run(new RowUpdate(step), withRows);
        run(step, all);
        double tolerance = dtype == DType.FLOAT32 ? 1e-5 : 1e-12;
        for (int operand = 0; operand < rows.length; operand++) {
            double[] expected = all[operand].toDoubleArray();
            double[] found = rows[operand].toDoubleArray();
            for (int i = 0; i < found.length && operand != 1; i++) {
                boolean touched = operand >= 3 + step.accumulators() || operand == 2
                        || Arrays.binarySearch(new long[]{1, 4, 6}, i / width) >= 0;
                String what = step + " " + dtype + " width " + width + " operand " + operand + " element " + i;
                if (touched) {
                    assertEquals(expected[i], found[i], tolerance * Math.max(1, Math.abs(expected[i])), what);
                } else if (operand == 0) {
                    assertEquals(before[i], found[i], what);
                }
            }
        }
    }

    private static Tensor[] operands(Update step, DType dtype, int width, Tensor grad, Random random) {
        Tensor[] operands = new Tensor[3 + step.accumulators() + step.scalars()];
        for (int i = 0; i < operands.length; i++) {
            boolean single = i == 2 || i >= 3 + step.accumulators();
            operands[i] = i == 1
                    ? grad
                    : single
                            ? Tensor.of(dtype, new double[]{0.5}, 1)
                            : Tensor.of(dtype, random.doubles((long) HEIGHT * width, 0.1, 0.5).toArray(), HEIGHT,
                                    width);
        }
        return operands;
    }

    private static void run(Computation computation, Tensor... operands) {
        TensorSpec[] specs = Arrays.stream(operands).map(Tensor::spec).toArray(TensorSpec[]::new);
        computation.infer(specs);
        try (Kernel kernel = Kernels.portable().prepare(computation, Place.CPU, specs)) {
            kernel.run(operands, KernelContext.current());
        }
    }

    @Test
    void noRowsChangeNothing() {
        Tensor p = Tensor.of(new float[]{1, 2}, 2, 1);
        run(new RowUpdate(new Update.Sgd()), p, Tensor.of(new float[0], 0, 1), Tensor.of(new float[]{1}, 1),
                Tensor.of(new long[0], 0));
        assertArrayEquals(new float[]{1, 2}, p.toFloatArray());
    }

    @Test
    void rowsOutsideAreRefused() {
        IllegalArgumentException refusal = assertThrows(IllegalArgumentException.class,
                () -> run(new RowUpdate(new Update.Sgd()), Tensor.of(new float[]{1, 2}, 2, 1),
                        Tensor.of(new float[]{1}, 1, 1),
                        Tensor.of(new float[]{1}, 1), Tensor.of(new long[]{2}, 1)));
        assertTrue(String.valueOf(refusal.getMessage()).contains("from 0 to 1, but place 0 holds 2"),
                String.valueOf(refusal.getMessage()));
    }

    @Test
    void shapesMustFit() {
        IllegalArgumentException refusal = assertThrows(IllegalArgumentException.class,
                () -> new RowUpdate(new Update.Sgd()).infer(TensorSpec.of(DType.FLOAT32, 5, 2),
                        TensorSpec.of(DType.FLOAT32, 3, 2),
                        TensorSpec.of(DType.FLOAT32, 1), TensorSpec.of(DType.INT64, 4)));
        assertTrue(
                String.valueOf(refusal.getMessage()).contains("sgd_rows")
                        && String.valueOf(refusal.getMessage()).contains("4 rows"),
                String.valueOf(refusal.getMessage()));
        assertThrows(IllegalArgumentException.class, () -> new RowUpdate(new Update.Lamb(0.9f, 0.9f, 1e-6f, 0)));
    }
}
