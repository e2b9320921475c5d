/**
 * Operation types: slots, attributes, inference of shapes and types, gradients, effects, and the computations that they
 * come down to.
 */
@NullMarked
package io.seriatim.graph.op;

import org.jspecify.annotations.NullMarked;
