/** Text for terminals: tables, escaped output, the description of the machine, and suggestions for mistyped words. */
@NullMarked
package io.seriatim.cli.text;

import org.jspecify.annotations.NullMarked;
