/** How other jars add commands to the command line. */
@NullMarked
package io.seriatim.cli.spi;

import org.jspecify.annotations.NullMarked;
