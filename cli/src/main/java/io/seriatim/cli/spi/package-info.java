/** The interface through which other jars add commands. */
@NullMarked
package io.seriatim.cli.spi;

import org.jspecify.annotations.NullMarked;
