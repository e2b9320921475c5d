package io.seriatim.tensor.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Place;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.IndexRangeException;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Gather;
import io.seriatim.tensor.computation.GatherNd;
import io.seriatim.tensor.computation.ScatterNd;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Rows that more indices name than a tile holds, compared with one loop over the indices. */
class IndexedRowsTest {
    private static final long SEED = 20261128;

    @ParameterizedTest
    @CsvSource({"FLOAT32,1,1,2500", "FLOAT32,1,16,2500", "FLOAT32,3,5,1025", "FLOAT32,4,2,3", "FLOAT64,2,1,1100",
            "INT64,1,3,2048", "FLOAT16,2,3,1500", "BOOL,1,1,1500"})
    void gathers(DType dtype, int outer, int inner, int count) {
        SplittableRandom random = new SplittableRandom(SEED);
        int length = 50;
        double[] x = numbers(random, dtype, outer * length * inner);
        long[] indices = random.longs(count, -1, length).toArray();
        double[] taken = KernelRun.run(Kernels.portable(), new Gather(1, -1), Tensor.of(dtype, x, outer, length, inner),
                Tensor.of(indices, count))[0].toDoubleArray();
        double[] expected = new double[outer * count * inner];
        for (int i = 0; i < expected.length; i++) {
            long index = indices[i / inner % count];
            expected[i] = index < 0
                    ? 0
                    : x[(i / inner / count * length + (int) index) * inner + i % inner];
        }
        assertArrayEquals(expected, taken, "seed " + SEED);
    }

    private static double[] numbers(SplittableRandom random, DType dtype, int count) {
        return random.ints(count, 0, dtype == DType.BOOL ? 2 : 1000).asDoubleStream().toArray();
    }

    @ParameterizedTest
    @CsvSource({"FLOAT32,1,16,2500", "FLOAT32,2,1,2500", "FLOAT64,2,3,1030", "INT32,1,1,5"})
    void gathersTuples(DType dtype, int depth, int inner, int count) {
        SplittableRandom random = new SplittableRandom(SEED);
        double[] x = numbers(random, dtype, 36 * inner);
        long[] tuples = random.longs((long) count * depth, 0, depth == 1 ? 36 : 6).toArray();
        Tensor from = depth == 1 ? Tensor.of(dtype, x, 36, inner) : Tensor.of(dtype, x, 6, 6, inner);
        double[] taken = KernelRun.run(Kernels.portable(), new GatherNd(), from, Tensor.of(tuples, count, depth))[0]
                .toDoubleArray();
        for (int i = 0; i < taken.length; i++) {
            assertEquals(x[row(tuples, depth, i / inner) * inner + i % inner], taken[i], "element " + i);
        }
    }

    private static int row(long[] tuples, int depth, int i) {
        return (int) (depth == 1 ? tuples[i] : 6 * tuples[2 * i] + tuples[2 * i + 1]);
    }

    /** Few rows of a large tensor, rows longer than a tile, and many rows of a small one, whose sum is in an array. */
    @ParameterizedTest
    @CsvSource({"FLOAT32,1,36,16,2500", "FLOAT32,2,36,1,2500", "FLOAT32,1,40,1500,50", "FLOAT32,1,70000,1,20000",
            "FLOAT32,1,5000,3,7", "FLOAT64,1,36,4,1500", "FLOAT16,1,36,4,1500", "INT64,2,36,2,1100"})
    void addsInTheOrderOfTheIndices(DType dtype, int depth, int rows, int inner, int count) {
        SplittableRandom random = new SplittableRandom(SEED);
        boolean whole = dtype == DType.INT64;
        double[] x = random.doubles((long) rows * inner).map(v -> whole ? Math.rint(9 * v) : v).toArray();
        double[] updates = random.doubles((long) count * inner).map(v -> whole ? Math.rint(9 * v) : v / 3).toArray();
        long[] tuples = random.longs((long) count * depth, 0, depth == 1 ? rows : 6).toArray();
        Tensor to = depth == 1 ? Tensor.of(dtype, x, rows, inner) : Tensor.of(dtype, x, 6, 6, inner);
        Tensor from = Tensor.of(dtype, updates, count, inner);
        double[] sums = to.toDoubleArray();
        double[] added = from.toDoubleArray();
        for (int i = 0; i < added.length; i++) {
            int at = row(tuples, depth, i / inner) * inner + i % inner;
            sums[at] = Tensor.of(dtype, new double[]{sums[at] + added[i]}).toDoubleArray()[0];
        }
        Tensor result = KernelRun.run(Kernels.portable(), new ScatterNd(ScatterNd.Function.ADD), to,
                Tensor.of(tuples, count, depth), from)[0];
        assertArrayEquals(sums, result.toDoubleArray(), "seed " + SEED);
    }

    @Test
    void refusesBeforeAnythingIsWritten() {
        long[] indices = new long[1500];
        indices[1200] = Long.MIN_VALUE;
        indices[1300] = 4;
        Tensor x = Tensor.of(new float[8], 4, 2);
        Tensor places = Tensor.of(indices, 1500);
        Tensor tuples = Tensor.of(indices, 1500, 1);
        Tensor updates = Tensor.of(new float[3000], 1500, 2);
        refuses(new Gather(0, -1), new Tensor[]{x, places, Tensor.of(new float[3000], 1500, 2)},
                "gather: index number 1200 must be from 0 to 3, but is " + Long.MIN_VALUE);
        refuses(new GatherNd(), new Tensor[]{x, tuples, Tensor.of(new float[3000], 1500, 2)},
                "part 0 of index number 1200 must be from 0 to 3");
        refuses(new ScatterNd(ScatterNd.Function.ADD),
                new Tensor[]{x, tuples, updates, Tensor.of(new float[8], 4, 2)},
                "part 0 of index number 1200 must be from 0 to 3");
    }

    private static void refuses(Computation computation, Tensor[] arguments, String message) {
        Tensor out = arguments[arguments.length - 1];
        float[] before = new float[(int) out.shape().size()];
        Arrays.fill(before, 7);
        try (Tensor sevens = Tensor.of(before, out.shape().dims())) {
            out.memory().copyFrom(sevens.memory());
        }
        Kernel kernel = Kernels.portable().prepare(computation, Place.CPU,
                Arrays.stream(arguments).map(Tensor::spec).toArray(TensorSpec[]::new));
        String said = assertThrows(IndexRangeException.class, () -> kernel.run(arguments, KernelContext.current()))
                .getMessage();
        assertNotNull(said);
        assertTrue(said.contains(message), said);
        assertArrayEquals(before, out.toFloatArray());
    }
}
