/** Pooling over windows. */
@NullMarked
package io.seriatim.graph.ops.pooling;

import org.jspecify.annotations.NullMarked;
