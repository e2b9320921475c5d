/**
 * Backward: walks a block in reverse, appends the gradient operations that the schemas declare, sums gradients of
 * values that are used several times, and tells which parameters get none.
 */
@NullMarked
package io.seriatim.graph.autodiff;

import org.jspecify.annotations.NullMarked;
