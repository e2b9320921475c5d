package io.seriatim.tensor.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Devices;
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
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Products of one row and packed weights, as of a step of a decoder, against the portable ones. */
class OneRowProductsTest {
    private static final long SEED = 20261127;
    private static final int CASES = Boolean.getBoolean("seriatim.full") ? 2000 : 200;
    private static final int MOST = 600_000;
    /** Of sums of k products of numbers up to 1, taken in two orders. */
    private static final double BOUND = 2e-7;

    @BeforeAll
    static void needsTheLibrary() {
        FastKernels.needsTheLibrary();
    }

    private static Tensor numbers(SplittableRandom random, long... dims) {
        return Tensor.of(DType.FLOAT32, random.doubles(Shape.of(dims).size(), -1, 1).toArray(), dims);
    }

    @Test
    void givesThePortableResult() {
        SplittableRandom random = new SplittableRandom(SEED);
        int packed = 0;
        for (int i = 0; i < CASES; i++) {
            long k = 1 + (long) Math.exp(random.nextDouble(Math.log(2000)));
            long n = 1 + (long) Math.exp(random.nextDouble(Math.log((double) Math.min(2000, MOST / k))));
            boolean transposed = random.nextBoolean();
            boolean bias = random.nextBoolean();
            List<PostOp> postOps = switch (random.nextInt(3)) {
                case 0 -> List.of();
                case 1 -> List.of(new PostOp.Apply(Unary.Function.RELU, 0, 0));
                default -> List.of(new PostOp.Apply(Unary.Function.SWISH, 1, 0),
                        new PostOp.Combine(Binary.Function.MULTIPLY));
            };
            String where = "seed " + SEED + ", case " + i + ": " + k + " by " + n + (transposed ? ", transposed" : "")
                    + (bias ? ", bias " : " ") + postOps;
            Tensor x = numbers(random, 1, k);
            Tensor y = transposed ? numbers(random, n, k) : numbers(random, k, n);
            Tensor[] more = new Tensor[(bias ? 1 : 0) + (postOps.size() == 2 ? 1 : 0)];
            for (int j = 0; j < more.length; j++) {
                more[j] = j == 0 && bias ? numbers(random, n) : numbers(random, 1, n);
            }
            MatMul product = new MatMul(false, transposed, bias, postOps);
            Tensor expected = Tensor.allocate(DType.FLOAT32, 1, n);
            KernelRun.into(Kernels.portable(), product, new Tensor[]{expected}, inputs(x, y, more));
            Tensor plain = Tensor.allocate(DType.FLOAT32, 1, n);
            TensorSpec preferred = run(product, plain, inputs(x, y, more));
            assertClose(expected, plain, k, where);
            if (preferred.layout() instanceof Layout.Opaque) {
                packed++;
                Tensor weights = Tensor.allocate(Devices.system().host(), preferred);
                KernelRun.into(Kernels.system(), Copy.PLAIN, new Tensor[]{weights},
                        transposed ? y.transpose(1, 0) : y);
                Tensor found = Tensor.allocate(DType.FLOAT32, 1, n);
                run(new MatMul(false, false, bias, postOps), found, inputs(x, weights, more));
                assertClose(expected, found, k, where + ", packed");
            }
        }
        assertTrue(packed > CASES / 2, "packed " + packed);
    }

    /** Products of two rows read the same weights. */
    @Test
    void shortColumnsArePackedAsForTwoRows() {
        TensorSpec weights = TensorSpec.of(DType.FLOAT32, 256, 1024);
        assertEquals(preferred(2, weights), preferred(1, weights));
    }

    private static TensorSpec preferred(long rows, TensorSpec weights) {
        try (Kernel kernel = Kernels.system().prepare(MatMul.PLAIN, Place.CPU,
                TensorSpec.of(DType.FLOAT32, rows, weights.shape().dim(0)), weights,
                TensorSpec.of(DType.FLOAT32, rows, weights.shape().dim(1)))) {
            return kernel.preferred(1, weights);
        }
    }

    private static Tensor[] inputs(Tensor x, Tensor y, Tensor... more) {
        Tensor[] all = new Tensor[2 + more.length];
        all[0] = x;
        all[1] = y;
        System.arraycopy(more, 0, all, 2, more.length);
        return all;
    }

    /** Returns the layout in which it wants the weights. */
    private static TensorSpec run(MatMul product, Tensor result, Tensor... inputs) {
        Tensor[] arguments = new Tensor[inputs.length + 1];
        System.arraycopy(inputs, 0, arguments, 0, inputs.length);
        arguments[inputs.length] = result;
        TensorSpec[] specs = new TensorSpec[arguments.length];
        for (int i = 0; i < specs.length; i++) {
            specs[i] = arguments[i].spec();
        }
        try (Kernel kernel = Kernels.system().prepare(product, Place.CPU, specs)) {
            kernel.run(arguments, KernelContext.current());
            return kernel.preferred(1, specs[1]);
        }
    }

    private static void assertClose(Tensor expected, Tensor found, long k, String where) {
        double[] right = expected.toDoubleArray();
        double[] given = found.toDoubleArray();
        for (int j = 0; j < right.length; j++) {
            assertEquals(right[j], given[j], BOUND * k * 2 + 1e-6, where + ", element " + j);
        }
    }
}
