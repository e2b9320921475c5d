/**
 * Checks of the operands of computations. In: the specs of inputs. Out: an exception that names the operation, the
 * rule and the inputs, if one does not hold.
 */
@NullMarked
package io.seriatim.tensor.check;

import org.jspecify.annotations.NullMarked;
