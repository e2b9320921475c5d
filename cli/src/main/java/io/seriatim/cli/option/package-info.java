/** Checks of options that several commands have. */
@NullMarked
package io.seriatim.cli.option;

import org.jspecify.annotations.NullMarked;
