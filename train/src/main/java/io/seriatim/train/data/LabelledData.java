package io.seriatim.train.data;

/**
 * Examples with two fields: the input and the label.
 *
 * @param split
 *            the first field is the input; the second is the label: INT64 [1] with classes from 0 to {@code classes} −
 *            1, or FLOAT32 [values] for regression
 * @param classes
 *            the number of classes, at least 1; 0 if the labels are values
 */
public record LabelledData(Split split, int classes) implements Data {
    /** Checks that there are two fields. */
    public LabelledData {
        if (split.training().fields().size() != 2 || classes < 0) {
            throw new IllegalArgumentException("Labelled data have two fields, and 0 classes or more, but these have "
                    + split.training().fields() + " and " + classes + " classes");
        }
    }

    /**
     * Returns the input field.
     *
     * @return the first field
     */
    public Field input() {
        return split.training().fields().getFirst();
    }

    /**
     * Returns the label field.
     *
     * @return the second field
     */
    public Field label() {
        return split.training().fields().getLast();
    }
}
