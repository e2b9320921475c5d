package io.seriatim.tensor.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.network.Recurrence;
import org.junit.jupiter.api.Test;

/** Recurrences by hand; their gradients are in {@link NumericGradientTest}. */
class RecurrenceTest {
    private static final Tensor ONE = number(1);
    private static final Tensor ZERO = Tensor.of(new double[]{0}, 1);

    private static Tensor number(double value) {
        return Tensor.of(new double[]{value}, 1, 1);
    }

    /** h = x + h, as long as that is positive. */
    private static double[] sums(boolean backwards, double... x) {
        Recurrence recurrence = new Recurrence(Recurrence.Cell.RELU, backwards, false);
        return KernelRun.run(Kernels.system(), recurrence, Tensor.of(x, x.length, 1, 1), ONE, ZERO, number(10))[0]
                .toDoubleArray();
    }

    @Test
    void stepsFollowEachOther() {
        assertArrayEquals(new double[]{11, 13, 0, 4}, sums(false, 1, 2, -20, 4));
        assertArrayEquals(new double[]{3, 2, 0, 14}, sums(true, 1, 2, -20, 4));
    }

    @Test
    void cellsByHand() {
        double x = 0.3;
        double u = 0.7 * 0.2 + 0.1;
        Tensor state = number(0.2);
        Tensor three = Tensor.of(new double[]{0.7, 0.7, 0.7}, 3, 1);
        Tensor[] gru = KernelRun.run(Kernels.system(), new Recurrence(Recurrence.Cell.GRU, false, false),
                Tensor.of(new double[]{x, x, x}, 1, 1, 3),
                three, Tensor.of(new double[]{0.1, 0.1, 0.1}, 3), state);
        double gate = 1 / (1 + Math.exp(-x - u));
        double h = gate * 0.2 + (1 - gate) * Math.tanh(x + gate * u);
        assertArrayEquals(new double[]{h}, gru[1].toDoubleArray(), 1e-15);
        Tensor four = Tensor.of(new double[]{0.7, 0.7, 0.7, 0.7}, 4, 1);
        Tensor[] lstm = KernelRun.run(Kernels.system(), new Recurrence(Recurrence.Cell.LSTM, false, false),
                Tensor.of(new double[]{x, x, x, x}, 1, 1, 4), four, Tensor.of(new double[]{0.1, 0.1, 0.1, 0.1}, 4),
                state, number(-0.5));
        double cell = gate * -0.5 + gate * Math.tanh(x + u);
        assertArrayEquals(new double[]{gate * Math.tanh(cell)}, lstm[1].toDoubleArray(), 1e-15);
        assertArrayEquals(new double[]{cell}, lstm[2].toDoubleArray(), 1e-15);
    }

    /** The batch first: what is seen through strides is the same. */
    @Test
    void viewsOfSequences() {
        Tensor x = Tensor.of(DType.FLOAT32, new double[]{1, 2, 3, 10, 20, 30}, 2, 3, 1);
        Tensor stepsFirst = new Tensor(x.buffer(), 0,
                new TensorSpec(DType.FLOAT32, Shape.of(3, 2, 1), Layout.strided(1, 3, 1)));
        Tensor one = Tensor.of(new float[]{1}, 1, 1);
        Recurrence recurrence = new Recurrence(Recurrence.Cell.RELU, true, true);
        Tensor[] results = KernelRun.run(Kernels.system(), recurrence, stepsFirst, one, Tensor.of(new float[]{0}, 1),
                Tensor.of(new float[]{100, 200}, 2, 1), Tensor.of(new long[]{2, 3}, 2));
        assertArrayEquals(new double[]{103, 260, 102, 250, 0, 230}, results[0].toDoubleArray());
        assertArrayEquals(new double[]{103, 260}, results[1].toDoubleArray());
    }

    @Test
    void wrongOperandsAreRefused() {
        Recurrence recurrence = new Recurrence(Recurrence.Cell.GRU, false, true);
        TensorSpec x = TensorSpec.of(DType.FLOAT32, 5, 2, 12);
        TensorSpec h = TensorSpec.of(DType.FLOAT32, 2, 4);
        TensorSpec bias = TensorSpec.of(DType.FLOAT32, 12);
        IllegalArgumentException refused = assertThrows(IllegalArgumentException.class,
                () -> recurrence.infer(x, TensorSpec.of(DType.FLOAT32, 12, 3), bias, h, TensorSpec.of(DType.INT64, 2)));
        String message = String.valueOf(refused.getMessage());
        assertTrue(message.startsWith("recurrence: weights must be float32 [12, 4], but is float32 [12, 3]"), message);
        assertThrows(IllegalArgumentException.class,
                () -> recurrence.infer(x, TensorSpec.of(DType.FLOAT32, 12, 4), bias, h, TensorSpec.of(DType.INT64, 3)));
        assertThrows(IllegalArgumentException.class,
                () -> recurrence.infer(x, TensorSpec.of(DType.FLOAT32, 12, 4), bias, h,
                        TensorSpec.of(DType.FLOAT32, 2)));
    }
}
