/** Calls into the shared libraries of other engines. */
@NullMarked
package io.seriatim.benchmarks.internal.ffi;

import org.jspecify.annotations.NullMarked;
