/**
 * Special functions of double-precision numbers. They know nothing of tensors, operations or programs.
 */
@NullMarked
package io.seriatim.tensor.numerics;

import org.jspecify.annotations.NullMarked;
