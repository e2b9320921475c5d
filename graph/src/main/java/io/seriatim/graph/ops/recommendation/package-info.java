/**
 * Operations of recommendation and ranking: losses over many classes, statistics of clicks, hashes, orders of pairs.
 */
@NullMarked
package io.seriatim.graph.ops.recommendation;

import org.jspecify.annotations.NullMarked;
