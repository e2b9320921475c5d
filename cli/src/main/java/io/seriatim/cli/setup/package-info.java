/** The commands that set something up for the user: a new project, and the completion of the shell. */
@NullMarked
package io.seriatim.cli.setup;

import org.jspecify.annotations.NullMarked;
