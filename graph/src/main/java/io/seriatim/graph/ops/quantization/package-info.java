/** Rounding of numbers to the levels of few bits, back again, and the scales for both. */
@NullMarked
package io.seriatim.graph.ops.quantization;

import org.jspecify.annotations.NullMarked;
