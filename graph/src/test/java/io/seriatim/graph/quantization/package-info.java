/** Tests of programs of quantized networks. */
@NullMarked
package io.seriatim.graph.quantization;

import org.jspecify.annotations.NullMarked;
