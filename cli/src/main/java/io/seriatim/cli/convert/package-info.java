/** The command {@code seriatim convert}: writes a model in another format, and compares what both compute. */
@NullMarked
package io.seriatim.cli.convert;

import org.jspecify.annotations.NullMarked;
