/** Tests of the commands that set something up. */
@NullMarked
package io.seriatim.cli.setup;

import org.jspecify.annotations.NullMarked;
