/**
 * Every kernel in plain Java: it runs where no native library loads, and is the reference that the fast ones are tested
 * against.
 */
@NullMarked
package io.seriatim.tensor.kernel.portable;

import org.jspecify.annotations.NullMarked;
