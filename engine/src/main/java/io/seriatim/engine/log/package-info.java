/**
 * The log of pushed operations, which pushing threads append to and the tracker reads.
 *
 * <p>
 * In: operations, appended under the push lock. Out: the same operations in the same order, read under the tracker
 * lock. Both sides share the progress of the engine ({@code Counts}) and requests to interrupt batches
 * ({@code BatchPreemption}).
 */
@NullMarked
package io.seriatim.engine.log;

import org.jspecify.annotations.NullMarked;
