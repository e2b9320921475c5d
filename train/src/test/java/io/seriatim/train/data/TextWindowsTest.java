package io.seriatim.train.data;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class TextWindowsTest {
    @Test
    void cutsWindowsAndWhatFollows() {
        TextWindows windows = new TextWindows(Tokens.of(IntStream.range(10, 21).toArray()), 3);
        assertEquals(
                List.of(new Field("tokens", DType.INT64, Shape.of(3)), new Field("next", DType.INT64, Shape.of(3, 1))),
                windows.fields());
        assertEquals(3, windows.size(), "11 characters: the last one can only follow");
        List<Tensor> batch = windows.batch(new int[]{2, 0});
        assertEquals(Shape.of(2, 3), batch.getFirst().shape());
        assertEquals(Shape.of(2, 3, 1), batch.getLast().shape());
        assertArrayEquals(new long[]{16, 17, 18, 10, 11, 12}, batch.getFirst().toLongArray());
        assertArrayEquals(new long[]{17, 18, 19, 11, 12, 13}, batch.getLast().toLongArray());
    }

    @Test
    void dropsNothingButTheLastIncompleteWindow() {
        for (int length = 1; length <= 12; length++) {
            for (int characters = length + 1; characters < 40; characters++) {
                TextWindows windows = new TextWindows(Tokens.of(IntStream.range(0, characters).toArray()), length);
                long[] all = windows.batch(IntStream.range(0, windows.size()).toArray()).getFirst().toLongArray();
                assertArrayEquals(IntStream.range(0, all.length).asLongStream().toArray(), all);
                assertTrue(characters - 1 - all.length < length, characters + " characters, windows of " + length);
            }
        }
    }

    @Test
    void saysWhatItNeeds() {
        Tokens four = Tokens.of(1, 2, 3, 4);
        assertEquals(1, new TextWindows(four, 3).size());
        String message = String
                .valueOf(assertThrows(IllegalArgumentException.class, () -> new TextWindows(four, 4)).getMessage());
        assertTrue(message.contains("window is of 4 and the text of 4"), message);
        assertThrows(IllegalArgumentException.class, () -> new TextWindows(four, 0));
        TextWindows windows = new TextWindows(four, 1);
        assertThrows(IndexOutOfBoundsException.class, () -> windows.batch(new int[]{3}));
        assertThrows(IndexOutOfBoundsException.class, () -> windows.batch(new int[]{-1}));
        assertEquals(4, windows.tokens().length());
        assertEquals(1, windows.length());
    }

    @Test
    void textIsCutAsASplit() {
        TextData text = new TextData(Vocabulary.of("ab"), Tokens.of(0, 1, 1, 0, 1), Tokens.of(1, 0, 0));
        Split split = text.windows(2);
        assertEquals(2, split.training().size());
        assertEquals(1, split.validation().size());
        assertThrows(IllegalArgumentException.class, () -> text.windows(3));
        assertThrows(IllegalArgumentException.class,
                () -> new TextData(Vocabulary.of("a"), Tokens.of(0), Tokens.of(0, 0)));
    }
}
