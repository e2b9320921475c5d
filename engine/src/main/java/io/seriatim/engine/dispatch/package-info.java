/**
 * The dispatchers: where and when a ready operation runs.
 *
 * <p>
 * In: ready operations of {@code core}. Out: operations that were run, with what their bodies threw.
 * {@code LaneDispatcher} has a pool of workers for each lane, which are handed operations in batches;
 * {@code InlineDispatcher} runs them in the threads that push and wait.
 */
@NullMarked
package io.seriatim.engine.dispatch;

import org.jspecify.annotations.NullMarked;
