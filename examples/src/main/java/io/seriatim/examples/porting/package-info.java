/** The example of docs/porting.md: a serial program and its parallel version. */
@NullMarked
package io.seriatim.examples.porting;

import org.jspecify.annotations.NullMarked;
