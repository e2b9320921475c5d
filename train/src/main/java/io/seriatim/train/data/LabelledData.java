package io.seriatim.train.data;

/**
 * Examples of two fields: what is given, and what is to be said of it.
 *
 * @param split
 *            the first field is what is given; the second is the label: INT64 [1] with numbers from 0 to
 *            {@code classes} − 1, or FLOAT32 [values] if a model is to find those
 * @param classes
 *            how many labels there are, from 1; 0 if the label is no class but a value, or several
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
     * The input field.
     *
     * @return the first field
     */
    public Field input() {
        return split.training().fields().getFirst();
    }

    /**
     * The target field.
     *
     * @return the second field
     */
    public Field label() {
        return split.training().fields().getLast();
    }
}
