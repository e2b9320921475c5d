/** Random tensors, sampling and dropout. */
@NullMarked
package io.seriatim.graph.ops.random;

import org.jspecify.annotations.NullMarked;
