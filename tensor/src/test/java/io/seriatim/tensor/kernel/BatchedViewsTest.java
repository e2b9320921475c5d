package io.seriatim.tensor.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.MatMul;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Products of batches that are views: with gaps, in other orders, with any step of what is single. What lies in the
 * gaps of a result stays.
 */
class BatchedViewsTest {
    private static final double GAP = 777;
    private static final double TOLERANCE = 1e-5;
    private static final int LAYOUTS = 4000;

    /** Dimensions and steps. */
    @SuppressWarnings("ArrayRecordComponent")
    record View(long[] dims, long[] steps) {
        /** One element after the other. */
        static View dense(long... dims) {
            return new View(dims, Shape.of(dims).strides());
        }

        View steps(long... others) {
            return new View(dims, others);
        }

        long reach() {
            long last = 0;
            for (int i = 0; i < dims.length; i++) {
                last += (dims[i] - 1) * steps[i];
            }
            return last + 1;
        }

        Tensor of(double[] memory) {
            Tensor all = Tensor.of(DType.FLOAT32, memory, memory.length);
            return new Tensor(all.buffer(), all.offset(),
                    new TensorSpec(DType.FLOAT32, Shape.of(dims), Layout.strided(steps)));
        }

        @Override
        public String toString() {
            return Arrays.toString(dims) + " by " + Arrays.toString(steps);
        }
    }

    record Product(String name, View x, View y, View out) {
    }

    static Stream<Product> products() {
        return Stream.of(
                new Product("parts of rows", View.dense(3, 3, 9, 3).steps(243, 27, 3, 1), View.dense(3, 4),
                        View.dense(3, 3, 9, 4).steps(324, 36, 4, 1)),
                new Product("parts of columns", View.dense(3, 3, 9, 3).steps(243, 9, 1, 81), View.dense(3, 4),
                        View.dense(3, 3, 9, 4).steps(324, 36, 4, 1)),
                new Product("a single batch between batches", View.dense(2, 1, 4, 3).steps(15, 15, 3, 1),
                        View.dense(3, 2),
                        View.dense(2, 1, 4, 2)),
                new Product("single rows", View.dense(3, 1, 1, 5).steps(15, 5, 5, 1), View.dense(5, 3),
                        View.dense(3, 1, 1, 3)),
                new Product("a single batch within batches", View.dense(2, 1, 4, 4).steps(32, 16, 4, 1),
                        View.dense(2, 1, 4, 3),
                        View.dense(2, 1, 4, 3).steps(24, 12, 3, 1)),
                new Product("batches within rows", View.dense(2, 3, 3, 2).steps(2, 12, 4, 1), View.dense(2, 3, 2, 6),
                        View.dense(2, 3, 3, 6)),
                new Product("sums of one product", View.dense(2, 3, 1), View.dense(2, 1, 4).steps(6, 6, 1),
                        View.dense(2, 3, 4)),
                new Product("heads", View.dense(4, 2, 4, 8).steps(64, 8, 16, 1),
                        View.dense(4, 2, 8, 4).steps(64, 8, 1, 16),
                        View.dense(4, 2, 4, 4)));
    }

    @ParameterizedTest
    @MethodSource("products")
    void aViewGivesWhatItsElementsGive(Product product) {
        check(product);
    }

    @Test
    void anyLayoutGivesWhatItsElementsGive() {
        SplittableRandom random = new SplittableRandom(20261122);
        for (int i = 0; i < LAYOUTS; i++) {
            int rank = random.nextInt(3, 6);
            long[] x = random.longs(rank, 1, random.nextBoolean() ? 6 : 4).toArray();
            long[] out = x.clone();
            out[rank - 1] = random.nextInt(1, 7);
            long[] y = new long[random.nextInt(3) == 0 ? 2 : rank];
            for (int j = 0; j < y.length - 2; j++) {
                y[j] = random.nextInt(3) == 0 ? 1 : out[j];
            }
            y[y.length - 2] = x[rank - 1];
            y[y.length - 1] = out[rank - 1];
            check(new Product("layout " + i, any(random, x), any(random, y), any(random, out)));
        }
    }

    /** A part of something larger, or not, in some order of the dimensions. */
    private static View any(SplittableRandom random, long... dims) {
        int rank = dims.length;
        long[] whole = dims.clone();
        whole[random.nextInt(rank)] += random.nextInt(4);
        int[] order = IntStream.range(0, rank).toArray();
        for (int i = random.nextBoolean() ? rank - 1 : 0; i > 0; i--) {
            int other = random.nextInt(i + 1);
            int moved = order[i];
            order[i] = order[other];
            order[other] = moved;
        }
        long[] steps = new long[rank];
        long next = 1;
        for (int i = rank - 1; i >= 0; i--) {
            steps[order[i]] = next;
            next *= whole[order[i]];
        }
        for (int i = 0; i < rank; i++) {
            if (dims[i] == 1 && random.nextInt(3) == 0) {
                steps[i] = random.nextInt(1, 60);
            }
        }
        return new View(dims, steps);
    }

    private static void check(Product product) {
        SplittableRandom random = new SplittableRandom(5);
        Tensor x = product.x().of(random.doubles(product.x().reach(), -1, 1).toArray());
        Tensor y = product.y().of(random.doubles(product.y().reach(), -1, 1).toArray());
        List<double[]> results = Stream.of(Kernels.portable(), Kernels.system()).map(kernels -> {
            double[] gaps = new double[Math.toIntExact(product.out().reach())];
            Arrays.fill(gaps, GAP);
            Tensor out = product.out().of(gaps);
            KernelRun.into(kernels, MatMul.PLAIN, new Tensor[]{out}, x, y);
            return new Tensor(out.buffer(), out.offset(), TensorSpec.of(DType.FLOAT32, gaps.length)).toDoubleArray();
        }).toList();
        assertArrayEquals(results.getFirst(), results.getLast(), TOLERANCE, product::toString);
    }
}
