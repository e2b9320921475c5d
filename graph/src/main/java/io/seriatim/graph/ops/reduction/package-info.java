/** Sums, means, extremes, norms and counts along axes. */
@NullMarked
package io.seriatim.graph.ops.reduction;

import org.jspecify.annotations.NullMarked;
