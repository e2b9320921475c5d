/** Signals: Fourier transforms, and signals as overlapping frames. */
@NullMarked
package io.seriatim.graph.ops.signal;

import org.jspecify.annotations.NullMarked;
