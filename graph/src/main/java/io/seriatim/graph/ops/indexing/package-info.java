/** Reading and writing at indices: slices, gather, scatter, selection, embeddings. */
@NullMarked
package io.seriatim.graph.ops.indexing;

import org.jspecify.annotations.NullMarked;
