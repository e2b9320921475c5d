/**
 * Tensors: memory with a type, a shape and a layout; {@code .npy} and {@code .npz} files.
 * {@link io.seriatim.tensor.Floats}, {@link io.seriatim.tensor.Doubles}, {@link io.seriatim.tensor.Longs} and
 * {@link io.seriatim.tensor.LoopNest} are for authors of kernels: they move elements of any type and stride between
 * memory and Java arrays.
 */
@NullMarked
package io.seriatim.tensor;

import org.jspecify.annotations.NullMarked;
