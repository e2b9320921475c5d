/** Operations on sequences of labels: alignments, tags, edits, chunks and beams. */
@NullMarked
package io.seriatim.graph.ops.text;

import org.jspecify.annotations.NullMarked;
