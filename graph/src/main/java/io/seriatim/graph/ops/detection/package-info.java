/** Boxes of objects in images: predictions, anchors, matching, suppression of overlapping boxes, and proposals. */
@NullMarked
package io.seriatim.graph.ops.detection;

import org.jspecify.annotations.NullMarked;
