/** Runs programs from files. */
@NullMarked
package io.seriatim.cli.run;

import org.jspecify.annotations.NullMarked;
