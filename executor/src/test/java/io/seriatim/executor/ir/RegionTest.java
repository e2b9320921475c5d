package io.seriatim.executor.ir;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Where parts of views lie, against a list of all elements. */
class RegionTest {
    private static final int BYTES = 4;

    private static Arg arg(int value, long offset, long[] dims, long... strides) {
        return new Arg(new Arg.Value(value), offset * BYTES,
                new TensorSpec(DType.FLOAT32, Shape.of(dims), Layout.strided(strides)));
    }

    private static Arg dense(int value, long offset, long... dims) {
        return arg(value, offset, dims, Shape.of(dims).strides());
    }

    /** Where each element lies, in elements, in row-major order. */
    private static List<Long> elements(Arg arg) {
        List<Long> all = List.of(arg.offset() / BYTES);
        for (int axis = 0; axis < arg.spec().shape().rank(); axis++) {
            List<Long> next = new ArrayList<>();
            for (long at : all) {
                for (long i = 0; i < arg.spec().shape().dim(axis); i++) {
                    next.add(at + i * arg.spec().strides()[axis]);
                }
            }
            all = next;
        }
        return all;
    }

    @Test
    void aHeadOfAttentionIsAPartOfTheProjection() {
        Region transposed = Objects
                .requireNonNull(Region.of(arg(1, 0, new long[]{3, 32, 4, 64, 32}, 128, 64 * 384, 32, 384, 1)));
        assertEquals(arg(1, 128, new long[]{32, 4, 64, 32}, 64 * 384, 32, 384, 1),
                transposed.part(dense(2, 32 * 4 * 64 * 32, 32, 4, 64, 32)));
        assertNull(transposed.part(dense(2, 0, 3, 32, 4, 64 * 32)), "two dimensions that lie apart are not one");
        assertNull(transposed.part(dense(2, 16, 3, 32)), "what begins within a dimension goes beyond its end");
    }

    @Test
    void whatRunsBackwardsOrRepeatsIsNoRegion() {
        assertNull(Region.of(arg(1, 8, new long[]{4, 2}, -2, 1)));
        assertNull(Region.of(arg(1, 0, new long[]{4, 2}, 0, 1)));
        assertNull(Region.of(dense(1, 0, 4, 0)));
    }

    @Test
    void aTransposedCopyIsWrittenWhereItGoes() {
        Arg in = arg(1, 0, new long[]{8, 16, 4}, 4, 32, 1);
        Region there = Objects
                .requireNonNull(Region.of(in, dense(2, 100, 8, 16, 4), TensorSpec.of(DType.FLOAT32, 16, 8, 4)));
        Arg whole = Objects.requireNonNull(there.part(dense(1, 0, 16, 8, 4)));
        assertEquals(arg(2, 100, new long[]{16, 8, 4}, 4, 64, 1), whole);
        assertNull(
                Region.of(arg(1, 0, new long[]{8, 16, 3}, 4, 32, 1), dense(2, 0, 8, 16, 3),
                        TensorSpec.of(DType.FLOAT32, 16, 8, 4)),
                "not all of it is copied");
    }

    private static long[] dims(Random random, int rank) {
        return random.longs(rank, 1, 5).toArray();
    }

    private static Arg permuted(Random random, int value, long offset, long[] dims, boolean padded) {
        List<Integer> order = new ArrayList<>();
        for (int i = 0; i < dims.length; i++) {
            order.add(i);
        }
        if (random.nextBoolean()) {
            Collections.shuffle(order, random);
        }
        long[] strides = new long[dims.length];
        long step = 1;
        for (int axis : order.reversed()) {
            strides[axis] = step;
            step *= dims[axis] + (padded && random.nextInt(3) == 0 ? 1 : 0);
        }
        return arg(value, offset, dims, strides);
    }

    private static Arg part(Random random, long[] dims) {
        long[] from = new long[dims.length];
        long[] length = new long[dims.length];
        long offset = 0;
        long[] dense = Shape.of(dims).strides();
        for (int i = 0; i < dims.length; i++) {
            length[i] = 1 + random.nextLong(dims[i]);
            from[i] = random.nextLong(dims[i] - length[i] + 1);
            offset += from[i] * dense[i];
        }
        if (random.nextInt(3) > 0) {
            return arg(2, offset, length, dense);
        }
        // Another shape of as many elements, or fewer.
        long size = Arrays.stream(dims).reduce(1, (a, b) -> a * b);
        long rows = 1 + random.nextLong(size);
        return dense(2, random.nextLong(size - rows * (size / rows) + 1), rows, size / rows);
    }

    @Test
    void partsLieWhereTheElementsDo() {
        int found = 0;
        for (long seed = 0; seed < 3000; seed++) {
            Random random = new Random(seed);
            long[] dims = dims(random, 1 + random.nextInt(4));
            Arg in = permuted(random, 1, random.nextInt(9), dims, true);
            Arg part = part(random, dims);
            Region region = Region.of(in);
            Arg view = region == null ? null : region.part(part);
            if (view != null) {
                found++;
                List<Long> all = elements(in);
                assertEquals(elements(part).stream().map(at -> all.get(at.intValue())).toList(), elements(view),
                        "seed " + seed);
            }
        }
        assertTrue(found > 2000, () -> "too few parts have been compared");
    }

    @Test
    void copiesAreUndoneWhereTheElementsGo() {
        int found = 0;
        for (long seed = 0; seed < 3000; seed++) {
            Random random = new Random(seed);
            long[] dims = dims(random, 1 + random.nextInt(4));
            Arg in = permuted(random, 1, 0, dims, random.nextInt(8) == 0);
            Arg out = permuted(random, 3, random.nextInt(9), dims, true);
            long size = Arrays.stream(dims).reduce(1, (a, b) -> a * b);
            Region region = Region.of(in, out, TensorSpec.of(DType.FLOAT32, size));
            Arg view = region == null ? null : region.part(part(random, region(in)));
            if (view != null) {
                found++;
            }
            if (region != null) {
                // Element by element: what is written at a place of the value is wanted where the copy would take it.
                List<Long> from = elements(in);
                List<Long> to = elements(out);
                for (int i = 0; i < from.size(); i++) {
                    Arg single = Objects.requireNonNull(region.part(dense(1, from.get(i), 1)));
                    assertEquals(to.get(i) * BYTES, single.offset(), "seed " + seed);
                }
            }
        }
        assertTrue(found > 1000, "too few parts have been compared");
    }

    private static long[] region(Arg in) {
        return new long[]{in.spec().shape().size()};
    }

    private static BitSet bytes(Arg arg) {
        BitSet bytes = new BitSet();
        elements(arg).forEach(at -> bytes.set((int) (at * BYTES), (int) ((at + 1) * BYTES)));
        return bytes;
    }

    @Test
    void whatIsSaidToBeApartHasNoCommonByte() {
        int apart = 0;
        for (long seed = 0; seed < 5000; seed++) {
            Random random = new Random(seed);
            Arg one = permuted(random, 1, random.nextInt(20), dims(random, 1 + random.nextInt(3)), true);
            long[] same = random.nextBoolean()
                    ? one.spec().strides()
                    : permuted(random, 1, 0, one.spec().shape().dims(), true).spec().strides();
            Arg two = arg(1, random.nextInt(20), one.spec().shape().dims(), same);
            if (Region.areApart(one, two)) {
                apart++;
                assertFalse(bytes(one).intersects(bytes(two)), () -> one + " and " + two);
                assertTrue(Region.areApart(two, one), () -> one + " and " + two);
            }
        }
        assertTrue(apart > 200, "too few were apart");
    }

    @Test
    void partsOfConcatenationsAreApart() {
        for (int axis = 0; axis < 3; axis++) {
            long[] whole = {4, 6, 10};
            long[] half = whole.clone();
            half[axis] /= 2;
            long step = Shape.of(whole).strides()[axis] * half[axis];
            Arg first = arg(1, 0, half, Shape.of(whole).strides());
            Arg second = arg(1, step, half, Shape.of(whole).strides());
            assertTrue(Region.areApart(first, second), "axis " + axis);
            assertFalse(Region.areApart(first, arg(1, step - 1, half, Shape.of(whole).strides())), "axis " + axis);
        }
        assertNotNull(Region.of(dense(1, 0, 2)));
    }
}
