/**
 * Descriptions of the computations of neural networks, one record each: convolution, pooling, normalisation, softmax,
 * losses, recurrences, interpolation, and the updates of optimizers.
 */
@NullMarked
package io.seriatim.tensor.computation.network;

import org.jspecify.annotations.NullMarked;
