package io.seriatim.tensor.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.IndexRangeException;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.FrontIndexes;
import io.seriatim.tensor.computation.PutAlongAxis;
import io.seriatim.tensor.computation.TakeAlongAxis;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Elements taken and put along an axis, whether or not all of a row have the same index, as plain loops do. */
class AlongAxisTest {
    private static final long SEED = 20261129;
    private static final int CASES = Boolean.getBoolean("seriatim.full") ? 5000 : 500;
    private static final List<DType> DTYPES = List.of(DType.FLOAT32, DType.FLOAT32, DType.FLOAT64, DType.INT64,
            DType.INT32, DType.INT8);

    /** Indices of elements, and the element of the tensor that each names. */
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    private record Case(long[] dims, long[] from, int axis, long[] indices, int[] named) {
        static Case of(SplittableRandom random) {
            int rank = random.nextInt(1, 4);
            long[] dims = new long[rank];
            long[] from = new long[rank];
            int axis = random.nextInt(rank);
            for (int d = 0; d < rank; d++) {
                dims[d] = random.nextLong(1, d == rank - 1 && random.nextBoolean() ? 70 : 7);
                from[d] = d == axis ? random.nextLong(1, 9) : dims[d] + random.nextLong(3);
            }
            int size = (int) Shape.of(dims).size();
            int row = (int) dims[rank - 1];
            boolean expanded = random.nextBoolean();
            long[] indices = new long[size];
            int[] named = new int[size];
            for (int i = 0; i < size; i++) {
                indices[i] = expanded && i % row != 0 ? indices[i - 1] : random.nextLong(from[axis]);
                long left = i;
                long stride = 1;
                for (int d = rank - 1; d >= 0; d--) {
                    named[i] += (int) ((d == axis ? indices[i] : left % dims[d]) * stride);
                    left /= dims[d];
                    stride *= from[d];
                }
            }
            return new Case(dims, from, axis, indices, named);
        }
    }

    /** Whole numbers, whose sums are exact in every type. */
    private static double[] numbers(SplittableRandom random, long[] dims) {
        return random.doubles(Shape.of(dims).size(), -5, 6).map(Math::floor).toArray();
    }

    @Test
    void areThoseOfPlainLoops() {
        for (int i = 0; i < CASES; i++) {
            SplittableRandom random = new SplittableRandom(SEED + i);
            String seed = "seed " + (SEED + i);
            Case one = Case.of(random);
            DType dtype = DTYPES.get(random.nextInt(DTYPES.size()));
            double[] x = numbers(random, one.from);
            double[] values = numbers(random, one.dims);
            double[] taken = Arrays.stream(one.named).mapToDouble(at -> x[at]).toArray();
            Tensor in = Tensor.of(dtype, x, one.from);
            Tensor indices = Tensor.of(one.indices, one.dims);
            Tensor given = Tensor.of(dtype, values, one.dims);
            assertArrayEquals(taken,
                    KernelRun.run(Kernels.portable(), new TakeAlongAxis(one.axis), in, indices)[0].toDoubleArray(),
                    seed);
            for (boolean add : new boolean[]{true, false}) {
                double[] put = x.clone();
                for (int n = 0; n < values.length; n++) {
                    put[one.named[n]] = add ? put[one.named[n]] + values[n] : values[n];
                }
                assertArrayEquals(put, KernelRun.run(Kernels.portable(), new PutAlongAxis(one.axis, add), in, indices,
                        given)[0].toDoubleArray(), seed + ", add " + add);
            }
        }
    }

    /** Sums of float32 are rounded in the order of the indices. */
    @Test
    void rowsAreAddedInOrder() {
        SplittableRandom random = new SplittableRandom(SEED);
        int rows = 100;
        int columns = 40;
        float[] values = new float[rows * columns];
        long[] indices = new long[values.length];
        float[] sums = new float[7 * columns];
        for (int i = 0; i < values.length; i++) {
            values[i] = random.nextFloat() * 100;
            indices[i] = i % columns == 0 ? random.nextLong(7) : indices[i - 1];
            int at = (int) indices[i] * columns + i % columns;
            sums[at] += values[i];
        }
        Tensor got = KernelRun.run(Kernels.portable(), new PutAlongAxis(0, true), Tensor.of(new float[sums.length], 7,
                columns), Tensor.of(indices, rows, columns), Tensor.of(values, rows, columns))[0];
        assertArrayEquals(sums, got.toFloatArray());
    }

    @Test
    void aWrongIndexIsNamed() {
        for (int i = 0; i < CASES / 5; i++) {
            SplittableRandom random = new SplittableRandom(SEED + i);
            Case one = Case.of(random);
            int at = random.nextInt(one.indices.length);
            long length = one.from[one.axis];
            one.indices[at] = random.nextBoolean() ? length + random.nextLong(3) : -1 - random.nextLong(3);
            Tensor indices = Tensor.of(one.indices, one.dims);
            Tensor given = Tensor.of(numbers(random, one.dims), one.dims);
            Tensor in = Tensor.of(numbers(random, one.from), one.from);
            for (Computation computation : List.of(new TakeAlongAxis(one.axis), new PutAlongAxis(one.axis, true))) {
                Tensor[] arguments = computation instanceof TakeAlongAxis
                        ? new Tensor[]{in, indices}
                        : new Tensor[]{in, indices, given};
                assertEquals(computation.operation() + ": index number " + at + " must be from 0 to " + (length - 1)
                        + ", but is " + one.indices[at],
                        assertThrows(IndexRangeException.class,
                                () -> KernelRun.run(Kernels.portable(), computation, arguments)).getMessage());
            }
        }
    }

    @Test
    void negativeIndicesCountFromTheEnd() {
        SplittableRandom random = new SplittableRandom(SEED);
        for (int trial = 0; trial < CASES / 5; trial++) {
            int depth = random.nextInt(1, 5);
            long[] lengths = random.longs(random.nextBoolean() ? 1 : depth, 1, 1000).toArray();
            long[] indices = random.longs(random.nextLong(900) * depth, -1200, 1200).toArray();
            long[] expected = new long[indices.length];
            Arrays.setAll(expected,
                    i -> indices[i] < 0 ? indices[i] + lengths[i % depth % lengths.length] : indices[i]);
            DType dtype = random.nextBoolean() ? DType.INT64 : DType.INT32;
            Tensor given = Tensor.of(dtype, Arrays.stream(indices).asDoubleStream().toArray(), indices.length / depth,
                    depth);
            FrontIndexes front = new FrontIndexes(Arrays.stream(lengths).boxed().toList());
            assertArrayEquals(expected, KernelRun.run(Kernels.system(), front, given)[0].toLongArray(),
                    "seed " + SEED + ", trial " + trial);
        }
    }
}
