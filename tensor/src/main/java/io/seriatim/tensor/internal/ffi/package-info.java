/** Bindings to oneDNN and to the OpenMP run-time that it uses. */
@NullMarked
package io.seriatim.tensor.internal.ffi;

import org.jspecify.annotations.NullMarked;
