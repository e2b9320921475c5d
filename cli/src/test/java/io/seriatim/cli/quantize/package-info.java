/** Tests of the command quantize. */
@NullMarked
package io.seriatim.cli.quantize;

import org.jspecify.annotations.NullMarked;
