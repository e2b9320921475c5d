/** Running sums, products and extremes along an axis. */
@NullMarked
package io.seriatim.graph.ops.cumulative;

import org.jspecify.annotations.NullMarked;
