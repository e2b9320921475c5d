/** Quantizes inference models. */
@NullMarked
package io.seriatim.cli.quantize;

import org.jspecify.annotations.NullMarked;
