/** Reading and writing elements of all types. */
@NullMarked
package io.seriatim.tensor.internal;

import org.jspecify.annotations.NullMarked;
