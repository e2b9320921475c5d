/** Interpolation, sampling at a grid, and patches of images. */
@NullMarked
package io.seriatim.graph.ops.image;

import org.jspecify.annotations.NullMarked;
