package io.seriatim.train.data;

/**
 * Data for training and data for validation.
 *
 * @param training
 *            the training examples
 * @param validation
 *            the validation examples, with the same fields
 */
public record Split(Dataset training, Dataset validation) {
    /** Checks that both are of the same kind. */
    public Split {
        if (!training.fields().equals(validation.fields())) {
            throw new IllegalArgumentException(
                    "Training and validation examples must have the same fields, but have " + training.fields()
                            + " and " + validation.fields());
        }
    }
}
