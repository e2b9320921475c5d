package io.seriatim.train.data;

/**
 * Text as numbers of characters.
 *
 * @param vocabulary
 *            all characters of both parts
 * @param training
 *            what is learnt from, of at least 2 characters
 * @param validation
 *            what it is judged by, of at least 2 characters
 */
public record TextData(Vocabulary vocabulary, Tokens training, Tokens validation) implements Data {
    /** Checks that both parts have something that can follow something. */
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
     * @param length
     *            of a window, from 1
     * @return the windows
     * @throws IllegalArgumentException
     *             if a part is too short for one window
     */
    public Split windows(int length) {
        return new Split(new TextWindows(training, length), new TextWindows(validation, length));
    }
}
