/** Single rows times matrices whose sizes change from call to call, so that nothing is prepared for them. */
@NullMarked
package io.seriatim.tensor.kernel.portable.row;

import org.jspecify.annotations.NullMarked;
