/** Activation functions, their gradients, and softmax. */
@NullMarked
package io.seriatim.graph.ops.activation;

import org.jspecify.annotations.NullMarked;
