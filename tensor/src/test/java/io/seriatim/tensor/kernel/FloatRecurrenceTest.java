package io.seriatim.tensor.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.network.Recurrence;
import io.seriatim.tensor.computation.network.Recurrence.Cell;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Recurrences of float32, which round in each step, beside the portable kernel in float64. */
class FloatRecurrenceTest {
    private static final long SEED = 20261126;
    private static final int CASES = Boolean.getBoolean("seriatim.full") ? 1500 : 40;
    /** The largest error of a state or cell, as a part of the largest result of its case, or of 1. */
    private static final double BOUND = 4e-6;
    private static final Kernels PORTABLE = Kernels.portable();

    /** A random case. */
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    record Case(Recurrence recurrence, Tensor[] inputs) {
        static Case of(SplittableRandom random, Cell cell, boolean large) {
            int steps = random.nextInt(1, 18);
            // With lengths, from 16 sequences on, steps of some of them have products of their own.
            int many = random.nextInt(3) == 0 ? random.nextInt(16, 40) : random.nextInt(2, 12);
            int batch = random.nextBoolean() ? 1 : many;
            int size = large ? random.nextInt(60, 150) : random.nextInt(1, 50);
            Recurrence recurrence = new Recurrence(cell, random.nextBoolean(), random.nextBoolean());
            int gates = cell.gates() * size;
            int products = cell.products() * size;
            List<Tensor> inputs = new ArrayList<>(List.of(strided(random, 2, steps, batch, gates),
                    strided(random, 1 / Math.sqrt(size), products, size), strided(random, 0.5, gates),
                    strided(random, 1, batch, size)));
            if (cell.isLstm()) {
                inputs.add(strided(random, 1, batch, size));
            }
            if (cell == Cell.PEEPHOLE_LSTM) {
                inputs.add(strided(random, 1, 3L * size));
            } else if (cell == Cell.RESET_GRU) {
                inputs.add(strided(random, 1 / Math.sqrt(size), size, size));
            }
            if (recurrence.lengths()) {
                long[] lengths = random.longs(batch, 0, steps + 1).toArray();
                inputs.add(Tensor.of(lengths, batch));
            }
            return new Case(recurrence, inputs.toArray(Tensor[]::new));
        }

        Tensor[] inDouble() {
            return Arrays.stream(inputs)
                    .map(each -> each.dtype().isFloating()
                            ? Tensor.of(each.toDoubleArray(), each.shape().dims())
                            : each)
                    .toArray(Tensor[]::new);
        }

        @Override
        public String toString() {
            return recurrence + " of " + Arrays.toString(Arrays.stream(inputs).map(Tensor::spec).toArray());
        }
    }

    /** Numbers up to {@code most}, sometimes in memory with gaps or with the last two axes exchanged. */
    static Tensor strided(SplittableRandom random, double most, long... dims) {
        int rank = dims.length;
        long[] strides = new long[rank];
        long step = random.nextInt(4) == 0 ? 2 : 1;
        boolean exchanged = rank > 1 && random.nextInt(4) == 0;
        for (int i = rank - 1; i >= 0; i--) {
            int axis = exchanged && i >= rank - 2 ? 2 * rank - 3 - i : i;
            strides[axis] = step;
            step *= dims[axis];
        }
        double[] values = random.doubles(step, -most, most).toArray();
        Tensor all = Tensor.of(DType.FLOAT32, values, step);
        TensorSpec dense = TensorSpec.of(DType.FLOAT32, dims);
        return new Tensor(all.buffer(), 0, new TensorSpec(DType.FLOAT32, dense.shape(), Layout.strided(strides)));
    }

    static void assertClose(Tensor[] expected, Tensor[] actual, String what) {
        for (int i = 0; i < expected.length; i++) {
            double[] right = expected[i].toDoubleArray();
            double[] given = actual[i].toDoubleArray();
            double scale = Math.max(1, Arrays.stream(right).map(Math::abs).max().orElse(0));
            for (int j = 0; j < right.length; j++) {
                double error = Math.abs(right[j] - given[j]);
                if (!(error <= BOUND * scale)) {
                    assertEquals(right[j], given[j], BOUND * scale, what + ", result " + i + ", element " + j);
                }
            }
        }
    }

    private static String provider(Case one, Tensor[] outputs) {
        TensorSpec[] specs = new TensorSpec[one.inputs.length + outputs.length];
        for (int i = 0; i < specs.length; i++) {
            specs[i] = (i < one.inputs.length ? one.inputs[i] : outputs[i - one.inputs.length]).spec();
        }
        try (Kernel kernel = Kernels.system().prepare(one.recurrence, Place.CPU, specs)) {
            return kernel.provider();
        }
    }

    @ParameterizedTest
    @EnumSource(Cell.class)
    void randomCasesAreThoseOfThePortableKernel(Cell cell) {
        SplittableRandom random = new SplittableRandom(SEED + cell.name().hashCode());
        for (int i = 0; i < CASES; i++) {
            Case one = Case.of(random, cell, i % 3 == 0);
            Tensor[] actual = KernelRun.run(Kernels.system(), one.recurrence, one.inputs);
            Tensor[] expected = KernelRun.run(PORTABLE, one.recurrence, one.inDouble());
            assertClose(expected, actual, "seed " + SEED + " number " + i + ": " + one);
        }
    }

    /** The order of the gates changes no result, for floats and in the reference. */
    @ParameterizedTest
    @EnumSource(Cell.class)
    void gatesInTheOrderOfOnnx(Cell cell) {
        SplittableRandom random = new SplittableRandom(SEED + cell.name().hashCode());
        for (int i = 0; i < CASES / 4; i++) {
            Case one = Case.of(random, cell, i % 3 == 0);
            Recurrence given = one.recurrence;
            Recurrence ordered =
                    new Recurrence(cell, given.backwards(), given.lengths(), Recurrence.Order.ONNX);
            Tensor[] inputs = one.inputs.clone();
            inputs[0] = inOrderOfOnnx(inputs[0], cell, 2);
            inputs[1] = inOrderOfOnnx(inputs[1], cell, 0);
            inputs[2] = inOrderOfOnnx(inputs[2], cell, 0);
            if (cell == Cell.PEEPHOLE_LSTM) {
                inputs[given.more()] = inOrder("021", inputs[given.more()], 0);
            }
            for (Kernels kernels : List.of(Kernels.system(), PORTABLE)) {
                Tensor[] expected = KernelRun.run(kernels, given, one.inputs);
                Tensor[] actual = KernelRun.run(kernels, ordered, inputs);
                for (int j = 0; j < expected.length; j++) {
                    assertArrayEquals(expected[j].toFloatArray(), actual[j].toFloatArray(), 2e-6f,
                            "seed " + SEED + " number " + i + ": " + one + ", result " + j);
                }
            }
        }
    }

    private static Tensor inOrderOfOnnx(Tensor x, Cell cell, int axis) {
        return inOrder(switch (cell) {
            case LSTM, PEEPHOLE_LSTM -> "0312";
            case GRU -> "102";
            case RESET_GRU -> axis == 0 && x.shape().rank() == 2 ? "10" : "102";
            case TANH, RELU -> "0";
        }, x, axis);
    }

    private static Tensor inOrder(String order, Tensor x, int axis) {
        long[] dims = x.shape().dims();
        int block = Math.toIntExact(dims[axis] / order.length());
        int inner = axis == dims.length - 1 ? 1 : Math.toIntExact(x.shape().size() / dims[axis]);
        int outer = Math.toIntExact(x.shape().size() / dims[axis] / inner);
        int chunk = block * inner;
        double[] from = x.toDoubleArray();
        double[] to = new double[from.length];
        for (int i = 0; i < outer; i++) {
            for (int gate = 0; gate < order.length(); gate++) {
                System.arraycopy(from, (i * order.length() + order.charAt(gate) - '0') * chunk, to,
                        (i * order.length() + gate) * chunk, chunk);
            }
        }
        return Tensor.of(DType.FLOAT32, to, dims);
    }

    /** Both ways to multiply, where the processor has the library's. */
    @Test
    void smallOnesAreJavaAndLargeOnesTheLibrarys() {
        SplittableRandom random = new SplittableRandom(SEED);
        for (int size : new int[]{30, 300}) {
            Case one = new Case(new Recurrence(Cell.TANH, false, false),
                    new Tensor[]{strided(random, 1, 9, 1, size), strided(random, 1, size, size),
                            strided(random, 1, size), strided(random, 1, 1, size)});
            Tensor[] outputs = KernelRun.run(PORTABLE, one.recurrence, one.inputs);
            String provider = provider(one, outputs);
            assertTrue(size == 30 ? provider.equals("java") : provider.equals("onednn") || provider.equals("portable"),
                    size + ": " + provider);
        }
    }

    /** Few weights lie in rows, many in a layout of the library. */
    @ParameterizedTest
    @EnumSource(Cell.class)
    void packedWeights(Cell cell) {
        packedWeights(cell, 40);
        packedWeights(cell, cell.products() == 1 ? 400 : 270);
    }

    private static void packedWeights(Cell cell, int size) {
        SplittableRandom random = new SplittableRandom(SEED + 30);
        Tensor[] inputs = inputs(random, cell, 5, 3, size, 5, 2, 3);
        Recurrence recurrence = new Recurrence(cell, true, true);
        for (int i = 0; i < inputs.length; i++) {
            if (recurrence.isWeights(i)) {
                long[] dims = inputs[i].shape().dims();
                inputs[i] = Tensor.of(DType.FLOAT32, random.doubles(dims[0] * dims[1], -0.05, 0.05).toArray(), dims);
            }
        }
        Tensor[] expected = KernelRun.run(PORTABLE, recurrence, new Case(recurrence, inputs).inDouble());
        assertClose(expected, KernelRun.run(Kernels.system(), recurrence, inputs),
                cell + " of " + size + ", packed in the run");
        Tensor[] outputs = KernelRun.run(PORTABLE, recurrence, inputs);
        Tensor[] all = Arrays.copyOf(inputs, inputs.length + outputs.length);
        System.arraycopy(outputs, 0, all, inputs.length, outputs.length);
        for (int i = 0; i < inputs.length; i++) {
            if (recurrence.isWeights(i)) {
                all[i] = packed(recurrence, all, i);
            }
        }
        try (Kernel kernel = Kernels.system().prepare(recurrence, Place.CPU, specs(all))) {
            kernel.run(all, KernelContext.current());
        }
        assertClose(expected, outputs, cell + " of " + size + ", packed before");
    }

    private static TensorSpec[] specs(Tensor[] tensors) {
        return Arrays.stream(tensors).map(Tensor::spec).toArray(TensorSpec[]::new);
    }

    /** Weights in the layout that the kernel prefers, if there is one. */
    private static Tensor packed(Recurrence recurrence, Tensor[] all, int argument) {
        Tensor weights = all[argument];
        TensorSpec[] plain = specs(all);
        for (int i = 0; i < argument; i++) {
            if (plain[i].layout() instanceof Layout.Opaque) {
                plain[i] = TensorSpec.of(DType.FLOAT32, plain[i].shape().dim(1), plain[i].shape().dim(0));
            }
        }
        TensorSpec wanted;
        try (Kernel kernel = Kernels.system().prepare(recurrence, Place.CPU, plain)) {
            wanted = kernel.preferred(argument, weights.spec());
        }
        if (wanted.equals(weights.spec())) {
            return weights;
        }
        long[] dims = weights.shape().dims();
        TensorSpec transposed = new TensorSpec(DType.FLOAT32, Shape.of(dims[1], dims[0]), Layout.strided(1, dims[1]));
        Tensor packed = Tensor.allocate(Devices.system().host(), wanted);
        try (Kernel packing = Kernels.system().prepare(Copy.PLAIN, Place.CPU, transposed, wanted)) {
            packing.run(new Tensor[]{new Tensor(weights.buffer(), weights.offset(), transposed), packed},
                    KernelContext.current());
        }
        return packed;
    }

    /** A kernel keeps its working memory; nothing of one run may reach the next one. */
    @Test
    void aSecondRunSeesNothingOfTheFirst() {
        SplittableRandom random = new SplittableRandom(SEED + 10);
        for (Cell cell : Cell.values()) {
            Case one = new Case(new Recurrence(cell, false, true), inputs(random, cell, 5, 3, 7, 5, 2, 0));
            Tensor[] inputs = inputs(random, cell, 5, 3, 7, 0, 5, 3);
            Tensor[] expected = KernelRun.run(Kernels.system(), one.recurrence, inputs);
            Tensor[] outputs = KernelRun.run(PORTABLE, one.recurrence, one.inputs);
            Tensor[] all = Arrays.copyOf(one.inputs, one.inputs.length + outputs.length);
            System.arraycopy(outputs, 0, all, one.inputs.length, outputs.length);
            TensorSpec[] specs = Arrays.stream(all).map(Tensor::spec).toArray(TensorSpec[]::new);
            try (Kernel kernel = Kernels.system().prepare(one.recurrence, Place.CPU, specs)) {
                Tensor x = one.inputs[0];
                x.memory().fill((byte) 0xff); // NaN
                kernel.run(all, KernelContext.current());
                System.arraycopy(inputs, 0, all, 0, inputs.length);
                kernel.run(all, KernelContext.current());
            }
            for (int i = 0; i < outputs.length; i++) {
                assertArrayEquals(expected[i].toDoubleArray(), outputs[i].toDoubleArray(), cell + ", seed " + SEED);
            }
        }
    }

    static Tensor[] inputs(SplittableRandom random, Cell cell, int steps, int batch, int size,
            long... lengths) {
        List<Tensor> inputs = new ArrayList<>();
        int gates = cell.gates() * size;
        int products = cell.products() * size;
        long[][] all = {{steps, batch, gates}, {products, size}, {gates}, {batch, size}};
        for (long[] dims : all) {
            inputs.add(Tensor.of(DType.FLOAT32,
                    random.doubles(TensorSpec.of(DType.FLOAT32, dims).shape().size(), -1, 1).toArray(), dims));
        }
        if (cell.isLstm()) {
            inputs.add(Tensor.of(DType.FLOAT32, random.doubles((long) batch * size, -1, 1).toArray(), batch, size));
        }
        if (cell == Cell.PEEPHOLE_LSTM) {
            inputs.add(Tensor.of(DType.FLOAT32, random.doubles(3L * size, -1, 1).toArray(), 3L * size));
        } else if (cell == Cell.RESET_GRU) {
            inputs.add(Tensor.of(DType.FLOAT32, random.doubles((long) size * size, -1, 1).toArray(), size, size));
        }
        inputs.add(Tensor.of(lengths, batch));
        return inputs.toArray(Tensor[]::new);
    }

    /** NaN and infinities among inputs, weights and states give what they give in double. */
    @ParameterizedTest
    @EnumSource(Cell.class)
    void specialNumbers(Cell cell) {
        SplittableRandom random = new SplittableRandom(SEED + 20 + cell.name().hashCode());
        double[] special = {Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, 1e8, -1e8, -0.0, 1e-42};
        for (int i = 0; i < CASES; i++) {
            boolean large = i % 3 == 0;
            int size = large ? 130 : random.nextInt(1, 40);
            Tensor[] inputs = inputs(random, cell, 4, 2, size, 4, 3);
            int changed = random.nextInt(inputs.length - 1);
            double[] values = inputs[changed].toDoubleArray();
            values[random.nextInt(values.length)] = special[random.nextInt(special.length)];
            inputs[changed] = Tensor.of(DType.FLOAT32, values, inputs[changed].shape().dims());
            Case one = new Case(new Recurrence(cell, random.nextBoolean(), true), inputs);
            Tensor[] actual = KernelRun.run(Kernels.system(), one.recurrence, inputs);
            Tensor[] expected = KernelRun.run(PORTABLE, one.recurrence, inputs);
            for (int r = 0; r < expected.length; r++) {
                double[] right = expected[r].toDoubleArray();
                double[] given = actual[r].toDoubleArray();
                // Large terms may cancel each other.
                double scale = Math.max(1,
                        Arrays.stream(right).filter(Double::isFinite).map(Math::abs).max().orElse(0));
                for (int j = 0; j < right.length; j++) {
                    String what = "seed " + SEED + " number " + i + ": " + one + ", result " + r + ", element " + j;
                    if (Double.isFinite(right[j])) {
                        assertEquals(right[j], given[j], 1e-4 * scale, what);
                    } else {
                        assertEquals(right[j], given[j], what);
                    }
                }
            }
        }
    }
}
