package io.seriatim.tensor;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class LodTest {
    private static final Lod TWO = Lod.of(new long[]{0, 2, 2, 3}, new long[]{0, 1, 4, 6});

    static Stream<Arguments> invalid() {
        return Stream.of(Arguments.of(List.of(new long[]{0}), "Level 0"),
                Arguments.of(List.of(new long[]{1, 2}), "must begin with 0"),
                Arguments.of(List.of(new long[]{0, 2, 1}), "must not decrease, but are [0, 2, 1]"),
                Arguments.of(List.of(new long[]{0, 2}, new long[]{0, 3}), "the next level, 1, but ends with 2"),
                Arguments.of(List.of(new long[]{0, 1}, new long[]{0, -3}), "level 1"),
                Arguments.of(List.of(new long[0]), "Level 0"));
    }

    @ParameterizedTest
    @MethodSource("invalid")
    void rulesAreChecked(List<long[]> levels, String part) {
        String message = String
                .valueOf(assertThrows(IllegalArgumentException.class, () -> Lod.of(levels)).getMessage());
        assertTrue(message.contains(part), message);
    }

    @Test
    void levelsAreCopied() {
        long[] level = {0, 2, 5};
        Lod lod = Lod.of(level);
        level[1] = 7;
        lod.last()[1] = 8;
        lod.levels().getFirst()[1] = 9;
        assertArrayEquals(new long[]{0, 2, 5}, lod.level(0));
    }

    @Test
    void sequencesCountRows() {
        assertEquals(6, TWO.rows());
        assertEquals(-1, Lod.NONE.rows());
        assertArrayEquals(new long[]{0, 4, 4, 6}, TWO.rowOffsets(0));
        assertEquals(Lod.of(new long[]{0, 2, 2, 3}), TWO.withoutLast());
        assertEquals(Lod.of(new long[]{0, 2, 2, 3}, new long[]{0, 0, 1, 1}), TWO.withLast(0, 0, 1, 1));
        assertEquals(Lod.of(new long[]{0, 3, 3, 4}), Lod.ofLengths(3, 0, 1));
        assertSame(Lod.NONE, Lod.ofLengths());
    }

    @Test
    void tensorsHoldOffsets() {
        for (Lod lod : List.of(Lod.NONE, Lod.of(new long[]{0, 2, 5}), TWO)) {
            Tensor tensor = lod.toTensor();
            assertEquals(lod, Lod.of(tensor));
            assertEquals(lod.depth() > 1 ? 2 : 1, tensor.shape().rank());
        }
        assertArrayEquals(new long[]{2, 4, 4, 0, 2, 2, 3, 0, 1, 4, 6}, TWO.toTensor().toLongArray());
    }

    @Test
    void hostileTensorsAreRefused() {
        for (long[] elements : List.of(new long[]{3, 1}, new long[]{-1}, new long[]{1, Long.MAX_VALUE, 0, 1},
                new long[]{1, 9, 0, 1}, new long[]{1, -2, 0, 1})) {
            assertThrows(IllegalArgumentException.class, () -> Lod.ofElements(elements, 2));
        }
    }

    @Test
    void tensorsAreDividedByTheirRows() {
        Tensor x = Tensor.allocate(DType.FLOAT32, 6, 2);
        assertSame(Lod.NONE, x.lod());
        Tensor divided = x.withLod(new long[]{0, 4, 6});
        assertEquals(Lod.of(new long[]{0, 4, 6}), divided.lod());
        assertSame(x.buffer(), divided.buffer());
        assertSame(Lod.NONE, divided.slice(0, 0, 2).lod());
        assertThrows(IllegalArgumentException.class, () -> x.withLod(new long[]{0, 5}));
        assertThrows(IllegalArgumentException.class,
                () -> Tensor.allocate(DType.FLOAT32).withLod(new long[]{0, 1}));
    }
}
