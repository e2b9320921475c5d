package io.seriatim.executor.pass;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.tensor.Shape;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class IndexGridTest {
    private static final long SEED = 20261128;

    private static long[] elements(IndexGrid grid) {
        Shape shape = grid.shape();
        long[] elements = new long[Math.toIntExact(shape.size())];
        long[] memory = shape.strides();
        for (int i = 0; i < elements.length; i++) {
            elements[i] = grid.base();
            for (int axis = 0; axis < memory.length; axis++) {
                elements[i] += i / memory[axis] % shape.dim(axis) * grid.stride(axis);
            }
        }
        return elements;
    }

    private static Shape shape(SplittableRandom random, int rank) {
        long[] dims = new long[rank];
        Arrays.setAll(dims, _ -> random.nextInt(1, 5));
        return Shape.of(dims);
    }

    private static long[] grown(SplittableRandom random, Shape shape) {
        long[] growth = new long[shape.rank()];
        Arrays.setAll(growth, _ -> random.nextInt(3) == 0 ? 0 : random.nextInt(-4, 5));
        long[] memory = shape.strides();
        long start = random.nextInt(-9, 10);
        long[] elements = new long[Math.toIntExact(shape.size())];
        for (int i = 0; i < elements.length; i++) {
            elements[i] = start;
            for (int axis = 0; axis < memory.length; axis++) {
                elements[i] += i / memory[axis] % shape.dim(axis) * growth[axis];
            }
        }
        return elements;
    }

    @Test
    void elementsThatGrowEvenlyAreFound() {
        SplittableRandom random = new SplittableRandom(SEED);
        for (int trial = 0; trial < 500; trial++) {
            Shape shape = shape(random, random.nextInt(5));
            long[] elements = grown(random, shape);
            IndexGrid grid = IndexGrid.of(elements, shape);
            String where = "seed " + SEED + ", trial " + trial;
            assertNotNull(grid, where);
            assertTrue(Arrays.equals(elements, elements(grid)), where);
            long least = Arrays.stream(elements).min().getAsLong();
            long most = Arrays.stream(elements).max().getAsLong();
            assertTrue(grid.isWithin(least, most), where);
            assertFalse(grid.isWithin(least + 1, most), where);
            assertFalse(grid.isWithin(least, most - 1), where);
            if (elements.length > 2) {
                int changed = random.nextInt(elements.length);
                elements[changed] += 100;
                IndexGrid other = IndexGrid.of(elements, shape);
                assertTrue(other == null || Arrays.equals(elements, elements(other)), where);
            }
        }
        assertNull(IndexGrid.of(new long[]{0, 1, 3}, Shape.of(3)));
    }

    @Test
    void elementsThatOverflowAreFarOutside() {
        long[] elements = new long[65];
        Arrays.setAll(elements, i -> i * (1L << 58));
        IndexGrid grid = IndexGrid.of(elements, Shape.of(65));
        assertNotNull(grid);
        assertFalse(grid.isWithin(0, 100));
    }

    /** Slices, transpositions, expansions and reshapes are views; whatever is found has the right elements. */
    @Test
    void viewsHaveTheElementsOfTheMemory() {
        SplittableRandom random = new SplittableRandom(SEED + 1);
        int found = 0;
        for (int trial = 0; trial < 3000; trial++) {
            Shape shape = shape(random, random.nextInt(1, 4));
            long[] memory = grown(random, shape);
            Shape viewed = shape(random, random.nextInt(4));
            long[] steps = new long[viewed.rank()];
            long[] own = shape.strides();
            Arrays.setAll(steps,
                    _ -> random.nextInt(4) == 0 ? random.nextInt(0, 4) : own[random.nextInt(own.length)]);
            long reach = 0;
            for (int i = 0; i < steps.length; i++) {
                reach += steps[i] * (viewed.dim(i) - 1);
            }
            if (reach >= memory.length) {
                continue;
            }
            long offset = random.nextLong(memory.length - reach);
            long[] expected = new long[Math.toIntExact(viewed.size())];
            long[] plain = viewed.strides();
            for (int i = 0; i < expected.length; i++) {
                long at = offset;
                for (int axis = 0; axis < plain.length; axis++) {
                    at += i / plain[axis] % viewed.dim(axis) * steps[axis];
                }
                expected[i] = memory[Math.toIntExact(at)];
            }
            @Nullable
            IndexGrid view = assertNotNullGrid(IndexGrid.of(memory, shape)).view(offset, viewed, steps);
            if (view != null) {
                found++;
                assertTrue(Arrays.equals(expected, elements(view)), "seed " + (SEED + 1) + ", trial " + trial);
            }
        }
        assertTrue(found > 800, "views found: " + found);
    }

    private static IndexGrid assertNotNullGrid(@Nullable IndexGrid grid) {
        assertNotNull(grid);
        return grid;
    }
}
