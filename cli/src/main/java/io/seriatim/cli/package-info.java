/** The command {@code seriatim}: what is common to all its commands. */
@NullMarked
package io.seriatim.cli;

import org.jspecify.annotations.NullMarked;
