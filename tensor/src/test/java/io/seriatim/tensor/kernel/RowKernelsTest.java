package io.seriatim.tensor.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Place;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.PostOp;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.network.Softmax;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Small kernels that are prepared in no time: for one row in each of a batch, as of attention on a growing cache. */
class RowKernelsTest {
    private static final long SEED = 20261126;
    private static final int CASES = Boolean.getBoolean("seriatim.full") ? 3000 : 200;

    private static Tensor numbers(SplittableRandom random, long... dims) {
        return Tensor.of(DType.FLOAT32, random.doubles(Shape.of(dims).size(), -1, 1).toArray(), dims);
    }

    private static Tensor run(Computation computation, Tensor... inputs) {
        return KernelRun.run(Kernels.system(), computation, inputs)[0];
    }

    private static String provider(Computation computation, TensorSpec... arguments) {
        try (Kernel kernel = Kernels.system().prepare(computation, Place.CPU, arguments)) {
            return kernel.provider();
        }
    }

    private static TensorSpec floats(long... dims) {
        return TensorSpec.of(DType.FLOAT32, dims);
    }

    /** Whichever way the matrix lies, with the bits of a product and its post-ops one after the other. */
    @Test
    void productsOfOneRow() {
        for (int i = 0; i < CASES; i++) {
            SplittableRandom random = new SplittableRandom(SEED + i);
            String seed = "seed " + (SEED + i);
            long heads = random.nextLong(1, 5);
            long batch = random.nextLong(1, 4);
            long k = random.nextLong(1, random.nextBoolean() ? 20 : 150);
            long n = random.nextLong(1, random.nextBoolean() ? 20 : 150);
            Tensor x = numbers(random, batch, random.nextBoolean() ? heads : 1, 1, k);
            Tensor y = numbers(random, random.nextBoolean() ? batch : 1, heads, k, n);
            Tensor turned = run(Copy.PLAIN, new Tensor(y.buffer(), 0,
                    new TensorSpec(DType.FLOAT32, Shape.of(y.shape().dim(0), heads, n, k),
                            Layout.strided(heads * k * n, k * n, 1, n))));
            Tensor found = run(MatMul.PLAIN, x, y);
            double[] expected = KernelRun.run(Kernels.portable(), MatMul.PLAIN, x, y)[0].toDoubleArray();
            assertArrayEquals(expected, found.toDoubleArray(), 1e-4, seed);
            if (y.shape().size() > MatMul.FEW) {
                continue;
            }
            assertArrayEquals(found.toDoubleArray(),
                    run(new MatMul(false, true, false, List.of()), x, turned).toDoubleArray(), seed);
            Tensor mask = numbers(random, batch, 1, 1, n);
            MatMul fused = new MatMul(false, false, false,
                    List.of(new PostOp.Apply(Unary.Function.LINEAR, 0.3f, 0),
                            new PostOp.Combine(Binary.Function.ADD), new PostOp.Apply(Unary.Function.TANH, 1, 0)));
            Tensor scaled = run(new Unary(Unary.Function.LINEAR, 0.3f, 0), found);
            Tensor last = run(Unary.of(Unary.Function.TANH), run(Binary.of(Binary.Function.ADD), scaled, mask));
            assertArrayEquals(last.toDoubleArray(), run(fused, x, y, mask).toDoubleArray(), seed);
        }
    }

    /** The choice depends on the operands only, and a part of what is large is large. */
    @Test
    void whichAreSmall() {
        assertEquals("java", provider(MatMul.PLAIN, floats(4, 1, 16), floats(4, 16, 128), floats(4, 1, 128)));
        assertTrue(!provider(MatMul.PLAIN, floats(4, 2, 16), floats(4, 16, 128), floats(4, 2, 128)).equals("java"));
        assertTrue(!provider(MatMul.PLAIN, floats(4, 1, 64), floats(4, 64, 512), floats(4, 1, 512)).equals("java"));
        assertTrue(!provider(MatMul.PLAIN, floats(1, 16), floats(16, 128), floats(1, 128)).equals("java"));
        TensorSpec[] product = {floats(40, 1, 64), floats(40, 64, 64), floats(40, 1, 64)};
        for (Split split : MatMul.PLAIN.splits(product)) {
            assertTrue(product[1].shape().size() / product[2].shape().dim(split.axes().getLast())
                    * split.least() > MatMul.FEW, split::toString);
        }
        TensorSpec[] rows = {floats(30, 3, 100), floats(30, 3, 100)};
        for (Split split : new Softmax(-1, false).splits(rows)) {
            assertTrue(
                    rows[0].shape().size() / rows[0].shape().dim(split.axes().getLast()) * split.least() > Softmax.FEW,
                    split::toString);
        }
    }

    @Test
    void softmaxOfAFewRows() {
        for (int i = 0; i < CASES; i++) {
            SplittableRandom random = new SplittableRandom(SEED + i);
            String seed = "seed " + (SEED + i);
            double scale = Math.pow(10, random.nextInt(-2, 3));
            double[] values = random.doubles(random.nextLong(1, 5) * 64, -scale, scale).toArray();
            long length = random.nextLong(1, random.nextBoolean() ? 10 : values.length + 1);
            long count = values.length / length;
            values = Arrays.copyOf(values, (int) (count * length));
            for (int special = random.nextInt(4); special > 0; special--) {
                values[random.nextInt(values.length)] = List.of(Double.NaN, Double.POSITIVE_INFINITY,
                        Double.NEGATIVE_INFINITY, 3e38).get(random.nextInt(4));
            }
            Tensor x = Tensor.of(DType.FLOAT32, values, count, length);
            Softmax softmax = new Softmax(1, false);
            assertEquals("java", provider(softmax, x.spec(), x.spec()));
            double[] expected = KernelRun.run(Kernels.portable(), softmax, x)[0].toDoubleArray();
            assertArrayEquals(expected, run(softmax, x).toDoubleArray(), 2e-6, seed);
        }
    }

    /** Elements in another order, of views with any strides. */
    @Test
    void smallCopies() {
        for (int i = 0; i < CASES; i++) {
            SplittableRandom random = new SplittableRandom(SEED + i);
            int rank = random.nextInt(1, 5);
            long[] dims = random.longs(rank, 1, 12).toArray();
            long[] strides = new long[rank];
            int[] order = new int[rank];
            for (int axis = 0; axis < rank; axis++) {
                int at = random.nextInt(axis + 1);
                order[axis] = order[at];
                order[at] = axis;
            }
            long size = 1;
            for (int axis : order) {
                strides[axis] = random.nextInt(8) == 0 ? 0 : size;
                size *= dims[axis] + random.nextInt(2);
            }
            Tensor base = numbers(random, size);
            double[] values = base.toDoubleArray();
            Tensor view = new Tensor(base.buffer(), 0,
                    new TensorSpec(DType.FLOAT32, Shape.of(dims), Layout.strided(strides)));
            Tensor found = KernelRun.run(Kernels.portable(), Copy.PLAIN, view)[0];
            double[] expected = new double[(int) Shape.of(dims).size()];
            for (int e = 0; e < expected.length; e++) {
                long left = e;
                long at = 0;
                for (int axis = rank - 1; axis >= 0; axis--) {
                    at += left % dims[axis] * strides[axis];
                    left /= dims[axis];
                }
                expected[e] = values[(int) at];
            }
            assertArrayEquals(expected, found.toDoubleArray(), "seed " + (SEED + i));
        }
    }
}
