/**
 * Rewrites a training program for several devices: replicas of the operations, and reductions of their gradients; the
 * collectives of ranks, as its operations call them.
 */
@NullMarked
package io.seriatim.graph.parallel;

import org.jspecify.annotations.NullMarked;
