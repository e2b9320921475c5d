/**
 * Labels for the training of detectors: which anchors and regions count as objects, where their boxes and masks are,
 * which of the others are examples of the background, and how well detections match them.
 */
@NullMarked
package io.seriatim.graph.ops.assignment;

import org.jspecify.annotations.NullMarked;
