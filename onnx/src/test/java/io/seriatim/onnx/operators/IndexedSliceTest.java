package io.seriatim.onnx.operators;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Indexes that are known when a model is read, and are those of a slice. */
class IndexedSliceTest {
    private static final long SEED = 20261128;

    /** Whether a slice is recognised or not, the result is that of the operands, which a run gets to know. */
    @Test
    void randomTuples() {
        SplittableRandom random = new SplittableRandom(SEED);
        int slices = 0;
        for (int trial = 0; trial < 400; trial++) {
            int depth = random.nextInt(1, 4);
            int rank = depth + random.nextInt(2);
            long[] dims = random.longs(rank, 2, 7).toArray();
            long[] starts = new long[depth];
            long[] steps = new long[depth];
            long[] counts = new long[depth];
            int lacking = 0;
            for (int axis = 0; axis < depth; axis++) {
                starts[axis] = random.nextInt((int) dims[axis]);
                steps[axis] = random.nextInt(1, 3);
                counts[axis] = random.nextInt(1, (int) ((dims[axis] - starts[axis] - 1) / steps[axis]) + 2);
                if (counts[axis] == 1 && random.nextBoolean()) {
                    lacking++;
                }
            }
            long[] places = placesOf(counts, lacking);
            long[] shape = Arrays.copyOf(places, places.length + 1);
            shape[places.length] = depth;
            long[] tuples = new long[Math.toIntExact(Arrays.stream(shape).reduce(1, (a, b) -> a * b))];
            long[] at = new long[depth];
            for (int i = 0; i < tuples.length; i += depth) {
                for (int axis = 0; axis < depth; axis++) {
                    tuples[i + axis] = starts[axis] + at[axis] * steps[axis];
                }
                for (int axis = depth - 1; axis >= 0 && ++at[axis] == counts[axis]; axis--) {
                    at[axis] = 0;
                }
            }
            if (random.nextInt(3) == 0) {
                int changed = random.nextInt(tuples.length);
                tuples[changed] = random.nextInt((int) dims[changed % depth]);
            }
            long[] updates = Arrays.copyOf(places, places.length + rank - depth);
            System.arraycopy(dims, depth, updates, places.length, rank - depth);
            Tensor x = values(1, dims);
            Tensor given = Tensor.of(tuples, shape);
            Tensor u = values(1000, updates);
            String where = "seed " + SEED + ", trial " + trial;
            slices += IndexedSlice.of(given) == null ? 0 : 1;
            assertArrayEquals(
                    OneOperator.of(IndexOperators::register, "ScatterND", 18).run(x, given, u).toFloatArray(),
                    OneOperator.of(IndexOperators::register, "ScatterND", 18).withConstants().run(x, given, u)
                            .toFloatArray(),
                    where);
        }
        assertEquals(true, slices > 200 && slices < 390, "slices: " + slices);
    }

    /** Some dimensions of 1 are left out, the first ones first. */
    private static long[] placesOf(long[] counts, int lacking) {
        long[] places = new long[counts.length - lacking];
        int left = lacking;
        int n = 0;
        for (long count : counts) {
            if (count == 1 && left > 0) {
                left--;
            } else {
                places[n++] = count;
            }
        }
        return places;
    }

    private static Tensor values(double first, long... dims) {
        double[] values = new double[Math.toIntExact(Arrays.stream(dims).reduce(1, (a, b) -> a * b))];
        Arrays.setAll(values, i -> first + i);
        return Tensor.of(DType.FLOAT32, values, dims);
    }

    @Test
    void boundsOfASlice() {
        IndexedSlice slice = IndexedSlice.of(Tensor.of(new long[]{1, 0, 1, 2, 1, 4}, 3, 2));
        assertNotNull(slice);
        assertArrayEquals(new long[]{1, 0}, slice.starts());
        assertArrayEquals(new long[]{2, 5}, slice.ends());
        assertArrayEquals(new long[]{1, 2}, slice.steps());
        assertArrayEquals(new int[]{0}, slice.single());
        assertEquals(true, slice.isWithin(new long[]{2, 5}));
        assertEquals(false, slice.isWithin(new long[]{2, 4}));
        assertEquals(false, slice.isWithin(new long[]{-1, 5}));
        assertNull(IndexedSlice.of(Tensor.of(new long[]{0, 0, 1, 1}, 2, 2)));
        assertNull(IndexedSlice.of(Tensor.of(new long[]{2, 1, 0}, 3, 1)));
        assertNull(IndexedSlice.of(Tensor.of(new long[]{1, 1}, 2, 1)));
        assertNull(IndexedSlice.of(Tensor.of(new long[]{0, 1L << 62, 1L << 63}, 3, 1)));
    }
}
