/** Tests of what is common to all commands. */
@NullMarked
package io.seriatim.cli;

import org.jspecify.annotations.NullMarked;
