package io.seriatim.executor.ir;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class IntSetTest {
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 4, 5, 16, 17, 18, 200})
    void isASetInOrder(int count) {
        Random random = new Random(count);
        Set<Integer> expected = new LinkedHashSet<>();
        IntSet set = new IntSet();
        for (int i = 0; i < count; i++) {
            int number = random.nextInt(2 * count) - 1;
            assertEquals(expected.add(number), set.add(number));
        }
        assertArrayEquals(expected.stream().mapToInt(Integer::intValue).toArray(), set.toArray());
        int[] others = random.ints(count + 3, -2, 2 * count + 2).toArray();
        for (int other : others) {
            assertEquals(expected.contains(other), set.contains(other));
        }
        assertArrayEquals(without(expected, others), set.missing(others));
        assertArrayEquals(new int[0], set.missing(set.toArray()));
    }

    private static int[] without(Set<Integer> known, int[] others) {
        return Arrays.stream(others).filter(other -> !known.contains(other)).toArray();
    }
}
