/** Programs of quantized networks: integers in place of dequantized numbers. */
@NullMarked
package io.seriatim.graph.quantization;

import org.jspecify.annotations.NullMarked;
