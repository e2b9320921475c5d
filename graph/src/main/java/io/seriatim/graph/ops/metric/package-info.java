/** Metrics. */
@NullMarked
package io.seriatim.graph.ops.metric;

import org.jspecify.annotations.NullMarked;
