/** Quantization of inference models after training, with data to calibrate it and to measure its error. */
@NullMarked
package io.seriatim.train.quantization;

import org.jspecify.annotations.NullMarked;
