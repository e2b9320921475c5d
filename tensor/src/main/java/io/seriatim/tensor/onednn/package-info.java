/** Kernels that oneDNN computes. */
@NullMarked
package io.seriatim.tensor.onednn;

import org.jspecify.annotations.NullMarked;
