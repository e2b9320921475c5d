/**
 * Kernels. A {@link io.seriatim.tensor.kernel.Computation} says what is computed;
 * {@link io.seriatim.tensor.kernel.Kernels} finds the fastest kernel for it at a place, for the types and layouts at
 * hand, and prepares it for the shapes; the {@link io.seriatim.tensor.kernel.Kernel} then runs many times.
 */
@NullMarked
package io.seriatim.tensor.kernel;

import org.jspecify.annotations.NullMarked;
