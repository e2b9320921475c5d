/**
 * The dispatchers, which decide where and when a ready operation runs.
 *
 * <p>
 * In: ready operations from {@code core}. Out: operations that have run, with the exceptions of their bodies.
 * {@code LaneDispatcher} has pools of workers, which run operations in batches; {@code InlineDispatcher} runs them in
 * the threads that push and wait.
 */
@NullMarked
package io.seriatim.engine.dispatch;

import org.jspecify.annotations.NullMarked;
