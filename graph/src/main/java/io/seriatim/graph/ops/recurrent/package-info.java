/** Recurrent networks as one operation. */
@NullMarked
package io.seriatim.graph.ops.recurrent;

import org.jspecify.annotations.NullMarked;
