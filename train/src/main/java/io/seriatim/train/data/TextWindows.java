package io.seriatim.train.data;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import java.util.List;
import java.util.Objects;

/**
 * A text cut into consecutive windows of equal length; the last characters that do not fill a window are left out. The
 * fields are {@code tokens}, INT64 [length], and {@code next}, INT64 [length, 1], the token that follows each of them.
 */
public final class TextWindows implements Dataset {
    private final Tokens tokens;
    private final int length;
    private final List<Field> fields;

    /**
     * Cuts a text into windows.
     *
     * @param tokens
     *            the text, at least one token longer than a window
     * @param length
     *            the length of a window, at least 1
     * @throws IllegalArgumentException
     *             if the text is too short for one window
     */
    public TextWindows(Tokens tokens, int length) {
        if (length < 1 || tokens.length() <= length) {
            throw new IllegalArgumentException(
                    "A window must be of at least 1 character, and the text of at least one more, but the window is of "
                            + length + " and the text of " + tokens.length() + ": take shorter windows, or more text");
        }
        this.tokens = tokens;
        this.length = length;
        fields = List.of(new Field("tokens", DType.INT64, Shape.of(length)),
                new Field("next", DType.INT64, Shape.of(length, 1)));
    }

    /**
     * Returns the whole text.
     *
     * @return the tokens, including those that do not fill a window
     */
    public Tokens tokens() {
        return tokens;
    }

    /**
     * Returns the length of a window.
     *
     * @return at least 1
     */
    public int length() {
        return length;
    }

    @Override
    public List<Field> fields() {
        return fields;
    }

    @Override
    public int size() {
        return (tokens.length() - 1) / length;
    }

    @Override
    public List<Tensor> batch(int[] examples) {
        long[] window = new long[Math.multiplyExact(examples.length, length)];
        long[] next = new long[window.length];
        for (int i = 0; i < examples.length; i++) {
            int begin = Objects.checkIndex(examples[i], size()) * length;
            for (int j = 0; j < length; j++) {
                window[i * length + j] = tokens.get(begin + j);
                next[i * length + j] = tokens.get(begin + j + 1);
            }
        }
        return List.of(Tensor.of(window, examples.length, length), Tensor.of(next, examples.length, length, 1));
    }
}
