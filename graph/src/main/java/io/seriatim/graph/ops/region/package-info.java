/** Regions of images: pooling and alignment of regions, and convolutions whose elements are sampled at offsets. */
@NullMarked
package io.seriatim.graph.ops.region;

import org.jspecify.annotations.NullMarked;
