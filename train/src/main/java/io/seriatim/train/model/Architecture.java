package io.seriatim.train.model;

import io.seriatim.train.Model;

/** A kind of network, with its sizes, that can be made for a training. */
public sealed interface Architecture permits CharacterTransformer, LeNet, Mlp, ResNet18 {
    /**
     * Its name on the command line.
     *
     * @return such as {@code lenet}
     */
    String name();

    /**
     * How it is trained unless someone wants it otherwise.
     *
     * @return measured settings
     */
    Recipe recipe();

    /**
     * Describes the network with its loss and its optimizer.
     *
     * @param recipe
     *            how it is trained
     * @param steps
     *            of the whole training, from 1: along these the learning rate falls; see {@link Recipe#steps}
     * @return the model; its feeds are the fields of the data in their order, its inference model has the first of them
     * as input and {@code logits}, which are not probabilities yet, as output
     * @throws IllegalArgumentException
     *             if the data do not fit the network
     */
    Model build(Recipe recipe, long steps);
}
