/** Tensors as kernels in plain Java read them: along an axis, in blocks, as images and windows. */
@NullMarked
package io.seriatim.tensor.kernel.portable.view;

import org.jspecify.annotations.NullMarked;
