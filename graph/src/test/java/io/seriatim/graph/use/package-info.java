/** A user of the graph: code of another package. */
@NullMarked
package io.seriatim.graph.use;

import org.jspecify.annotations.NullMarked;
