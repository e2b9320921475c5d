package io.seriatim.tensor.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Place;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.network.Recurrence;
import io.seriatim.tensor.computation.network.Recurrence.Cell;
import io.seriatim.tensor.computation.network.RecurrenceGrad;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Gradients of recurrences of float32 beside the portable kernel in float64, which finite differences check. */
class FloatRecurrenceGradTest {
    private static final long SEED = 20261127;
    private static final int CASES = Boolean.getBoolean("seriatim.full") ? 1500 : 40;
    private static final Kernels PORTABLE = Kernels.portable();

    /** The inputs of a gradient, with what the forward gives; sometimes without some gradients of its outputs. */
    private static @Nullable Tensor[] inputs(SplittableRandom random, Recurrence recurrence, Tensor[] forward,
            boolean all) {
        Cell cell = recurrence.cell();
        Tensor[] results = KernelRun.run(PORTABLE, recurrence, forward);
        List<@Nullable Tensor> inputs = new ArrayList<>();
        inputs.add(like(random, results[0]));
        if (cell.saved() > 0) {
            inputs.add(like(random, results[results.length - 1]));
        }
        inputs.add(forward[1]);
        inputs.addAll(Arrays.asList(forward).subList(3, forward.length));
        for (int i = 0; i <= cell.states(); i++) {
            inputs.add(all || random.nextInt(4) > 0
                    ? FloatRecurrenceTest.strided(random, 1, results[i].shape().dims())
                    : null);
        }
        return inputs.toArray(new Tensor[0]);
    }

    /** The same numbers, sometimes in memory with gaps or with axes exchanged. */
    private static Tensor like(SplittableRandom random, Tensor values) {
        Tensor to = FloatRecurrenceTest.strided(random, 1, values.shape().dims());
        KernelRun.into(PORTABLE, Copy.PLAIN, new Tensor[]{to}, values);
        return to;
    }

    private static @Nullable Tensor[] inDouble(@Nullable Tensor[] inputs) {
        return Arrays.stream(inputs)
                .map(each -> each != null && each.dtype().isFloating()
                        ? Tensor.of(each.toDoubleArray(), each.shape().dims())
                        : each)
                .toArray(Tensor[]::new);
    }

    private static TensorSpec[] specs(@Nullable Tensor... tensors) {
        return Arrays.stream(tensors).map(each -> each == null ? null : each.spec()).toArray(TensorSpec[]::new);
    }

    @ParameterizedTest
    @EnumSource(Cell.class)
    void randomGradientsAreThoseOfThePortableKernel(Cell cell) {
        SplittableRandom random = new SplittableRandom(SEED + cell.name().hashCode());
        for (int i = 0; i < CASES; i++) {
            FloatRecurrenceTest.Case one = FloatRecurrenceTest.Case.of(random, cell, i % 3 == 0);
            Recurrence recurrence = new Recurrence(cell, one.recurrence().backwards(), one.recurrence().lengths(),
                    random.nextBoolean() ? Recurrence.Order.PADDLE : Recurrence.Order.ONNX);
            RecurrenceGrad grad = new RecurrenceGrad(recurrence);
            @Nullable
            Tensor[] inputs = inputs(random, recurrence, one.inputs(), false);
            Tensor[] expected = KernelRun.run(PORTABLE, grad, inDouble(inputs));
            @Nullable
            Tensor[] actual = new Tensor[expected.length];
            for (int j = 0; j < actual.length; j++) {
                actual[j] = j == 0 || random.nextInt(5) > 0
                        ? FloatRecurrenceTest.strided(random, 9, expected[j].shape().dims())
                        : null;
            }
            KernelRun.into(Kernels.system(), grad, actual, inputs);
            String what = "seed " + SEED + " number " + i + ": " + grad + " of " + Arrays.toString(specs(inputs));
            for (int j = 0; j < actual.length; j++) {
                Tensor result = actual[j];
                if (result != null) {
                    FloatRecurrenceTest.assertClose(new Tensor[]{expected[j]}, new Tensor[]{result},
                            what + ", output " + j);
                }
            }
        }
    }

    /** A kernel keeps its working memory; nothing of one run may reach the next one. */
    @ParameterizedTest
    @EnumSource(Cell.class)
    void aSecondRunSeesNothingOfTheFirst(Cell cell) {
        SplittableRandom random = new SplittableRandom(SEED + 10);
        Recurrence recurrence = new Recurrence(cell, false, true);
        RecurrenceGrad grad = new RecurrenceGrad(recurrence);
        int[] sizes = {7, 70};
        for (int size : sizes) {
            @Nullable
            Tensor[] first = rowMajor(inputs(random, recurrence,
                    FloatRecurrenceTest.inputs(random, cell, 5, 3, size, 5, 2, 0), true));
            @Nullable
            Tensor[] second = rowMajor(inputs(random, recurrence,
                    FloatRecurrenceTest.inputs(random, cell, 5, 3, size, 0, 5, 3), true));
            Tensor[] expected = KernelRun.run(Kernels.system(), grad, second);
            Tensor[] outputs = KernelRun.run(PORTABLE, grad, first);
            @Nullable
            Tensor[] all = Arrays.copyOf(first, first.length + outputs.length);
            System.arraycopy(outputs, 0, all, first.length, outputs.length);
            try (Kernel kernel = Kernels.system().prepare(grad, Place.CPU, specs(all))) {
                Tensor dy = first[first.length - 1 - cell.states()];
                if (dy != null) {
                    dy.memory().fill((byte) 0xff); // NaN
                }
                kernel.run(all, KernelContext.current());
                System.arraycopy(second, 0, all, 0, second.length);
                kernel.run(all, KernelContext.current());
            }
            for (int i = 0; i < outputs.length; i++) {
                assertArrayEquals(expected[i].toFloatArray(), outputs[i].toFloatArray(),
                        cell + ", seed " + SEED + ", output " + i);
            }
        }
    }

    private static @Nullable Tensor[] rowMajor(@Nullable Tensor[] tensors) {
        return Arrays.stream(tensors)
                .map(each -> each != null && each.dtype().isFloating()
                        ? Tensor.of(each.toFloatArray(), each.shape().dims())
                        : each)
                .toArray(Tensor[]::new);
    }

    /** The gradient of max(0, x) passes where the state is above 0, and nowhere else. */
    @Test
    void gradientOfReluAtSpecialNumbers() {
        float[] states = {0f, -0f, Float.MIN_VALUE, Float.POSITIVE_INFINITY, Float.NaN, -Float.NaN, 3, -3,
                Float.MAX_VALUE};
        int n = states.length;
        float[] gradients = new float[n];
        Arrays.fill(gradients, Float.POSITIVE_INFINITY);
        RecurrenceGrad grad = new RecurrenceGrad(new Recurrence(Cell.RELU, false, false));
        Tensor[] results = KernelRun.run(Kernels.system(), grad, Tensor.of(states, 1, 1, n),
                Tensor.of(new float[n * n], n, n), Tensor.of(new float[n], 1, n), Tensor.of(gradients, 1, 1, n), null);
        float all = Float.POSITIVE_INFINITY;
        assertArrayEquals(new float[]{0, 0, all, all, 0, 0, all, 0, all}, results[0].toFloatArray());
    }

    /** Both ways to multiply, where the processor has the library's. */
    @Test
    void smallOnesAreJavaAndLargeOnesTheLibrarys() {
        SplittableRandom random = new SplittableRandom(SEED);
        for (int size : new int[]{30, 300}) {
            Recurrence recurrence = new Recurrence(Cell.LSTM, false, false);
            Tensor[] forward = FloatRecurrenceTest.inputs(random, Cell.LSTM, 9, 1, size, 9);
            RecurrenceGrad grad = new RecurrenceGrad(recurrence);
            @Nullable
            Tensor[] inputs = inputs(random, recurrence, Arrays.copyOf(forward, forward.length - 1), true);
            TensorSpec[] outputs = grad.infer(specs(inputs));
            TensorSpec[] all = Arrays.copyOf(specs(inputs), inputs.length + outputs.length);
            System.arraycopy(outputs, 0, all, inputs.length, outputs.length);
            try (Kernel kernel = Kernels.system().prepare(grad, Place.CPU, all)) {
                String provider = kernel.provider();
                assertTrue(size == 30
                        ? provider.equals("java")
                        : provider.equals("onednn") || provider.equals("portable"), size + ": " + provider);
            }
        }
    }
}
