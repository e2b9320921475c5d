package io.seriatim.train.model;

import io.seriatim.train.Model;

/** A kind of network with its sizes, from which a model can be built. */
public sealed interface Architecture permits CharacterTransformer, LeNet, Mlp, ResNet18, TableMlp {
    /**
     * Returns the name on the command line.
     *
     * @return the name, such as {@code lenet}
     */
    String name();

    /**
     * Returns the default settings of a training.
     *
     * @return settings chosen by measurements
     */
    Recipe recipe();

    /**
     * Builds the network with its loss and its optimizer.
     *
     * @param recipe
     *            the settings of the training
     * @param steps
     *            the number of steps of the whole training, at least 1, over which the learning rate decreases; see
     *            {@link Recipe#steps}
     * @return the model. Its feeds are the fields of the data, in order. Its inference model has all fields but the
     * last, the label, as inputs, and the {@code logits}, before a softmax, as output, except that of
     * {@link TableMlp}
     * @throws IllegalArgumentException
     *             if the fields of the data do not match the network
     */
    Model build(Recipe recipe, long steps);
}
