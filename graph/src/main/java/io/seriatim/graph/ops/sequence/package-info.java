/** Operations on the sequences that level-of-detail offsets divide rows into. */
@NullMarked
package io.seriatim.graph.ops.sequence;

import org.jspecify.annotations.NullMarked;
