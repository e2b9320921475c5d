/** Losses. */
@NullMarked
package io.seriatim.graph.ops.loss;

import org.jspecify.annotations.NullMarked;
