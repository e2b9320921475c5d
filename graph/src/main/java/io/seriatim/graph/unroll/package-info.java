/**
 * Writes loops that run a known number of times as the operations of their iterations.
 */
@NullMarked
package io.seriatim.graph.unroll;

import org.jspecify.annotations.NullMarked;
