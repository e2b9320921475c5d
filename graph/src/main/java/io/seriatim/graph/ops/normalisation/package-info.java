/** Batch, layer, group, instance and spectral normalisation. */
@NullMarked
package io.seriatim.graph.ops.normalisation;

import org.jspecify.annotations.NullMarked;
