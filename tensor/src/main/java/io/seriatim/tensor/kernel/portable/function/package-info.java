/** Functions of single numbers and of short arrays, as kernels in plain Java compute them. */
@NullMarked
package io.seriatim.tensor.kernel.portable.function;

import org.jspecify.annotations.NullMarked;
