/** Tests of quantization after training. */
@NullMarked
package io.seriatim.train.quantization;

import org.jspecify.annotations.NullMarked;
