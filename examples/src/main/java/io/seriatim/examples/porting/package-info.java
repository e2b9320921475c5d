/** The example of docs/porting.md: a serial program, and what it becomes. */
@NullMarked
package io.seriatim.examples.porting;

import org.jspecify.annotations.NullMarked;
