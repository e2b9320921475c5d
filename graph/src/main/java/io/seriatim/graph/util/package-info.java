/** Checks of ranges, of text and of bytes: used by all packages of this module, using none of them. */
@NullMarked
package io.seriatim.graph.util;

import org.jspecify.annotations.NullMarked;
