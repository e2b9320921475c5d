/**
 * Kernels: the interfaces and the registry. A {@link io.seriatim.tensor.kernel.Computation} describes an operation;
 * {@link io.seriatim.tensor.kernel.Kernels} finds the fastest kernel for it at a place, for the types and layouts of
 * its operands, and prepares it for their shapes; the {@link io.seriatim.tensor.kernel.Kernel} then runs many times.
 * Libraries add their kernels as a {@link io.seriatim.tensor.kernel.KernelProvider}.
 */
@NullMarked
package io.seriatim.tensor.kernel;

import org.jspecify.annotations.NullMarked;
