/** Complex numbers: from their parts, and to them. */
@NullMarked
package io.seriatim.graph.ops.complex;

import org.jspecify.annotations.NullMarked;
