/** Bindings to the C library. */
@NullMarked
package io.seriatim.device.internal.ffi;

import org.jspecify.annotations.NullMarked;
