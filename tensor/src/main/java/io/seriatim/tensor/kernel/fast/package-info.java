/** Kernels in Java that work on tiles, for what the native library has nothing for. */
@NullMarked
package io.seriatim.tensor.kernel.fast;

import org.jspecify.annotations.NullMarked;
