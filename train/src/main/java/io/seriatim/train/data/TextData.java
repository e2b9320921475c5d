package io.seriatim.train.data;

/**
 * Text as sequences of character tokens.
 *
 * @param vocabulary
 *            the characters of both parts
 * @param training
 *            the training text, at least 2 characters
 * @param validation
 *            the validation text, at least 2 characters
 */
public record TextData(Vocabulary vocabulary, Tokens training, Tokens validation) implements Data {
    /** Validates the lengths. */
    public TextData {
        if (training.length() < 2 || validation.length() < 2) {
            throw new IllegalArgumentException(
                    "Training and validation text must have at least 2 characters each, but have "
                            + training.length() + " and " + validation.length());
        }
    }

    /**
     * Cuts both parts into windows.
     *
     * @param length the length of a window, at least 1
     * @return the windows
     * @throws IllegalArgumentException
     *             if a part is too short for one window
     */
    public Split windows(int length) {
        return new Split(new TextWindows(training, length), new TextWindows(validation, length));
    }
}
