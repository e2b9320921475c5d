/**
 * Tensors: memory with a type, a shape and a layout; {@code .npy} and {@code .npz} files; and arrays whose operations
 * are pushed on an engine.
 */
@NullMarked
package io.seriatim.tensor;

import org.jspecify.annotations.NullMarked;
