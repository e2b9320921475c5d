/** Convolutions and transposed convolutions of one to three dimensions. */
@NullMarked
package io.seriatim.graph.ops.convolution;

import org.jspecify.annotations.NullMarked;
