/** Tensors made from attributes: constants, ranges, diagonals. */
@NullMarked
package io.seriatim.graph.ops.creation;

import org.jspecify.annotations.NullMarked;
