/**
 * The schema of an operation type: slots, attributes, inference of shapes and types, gradients, effects, and the
 * computations that it is lowered to. {@link io.seriatim.graph.op.Operations} is the registry.
 */
@NullMarked
package io.seriatim.graph.op;

import org.jspecify.annotations.NullMarked;
