/** Functions of single numbers, as kernels in plain Java compute them. */
@NullMarked
package io.seriatim.tensor.kernel.portable.function;

import org.jspecify.annotations.NullMarked;
