/** Tests of the command line with the measurements on its class path. */
@NullMarked
package io.seriatim.cli;

import org.jspecify.annotations.NullMarked;
