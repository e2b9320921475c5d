/**
 * The dependency engine. Begin with {@link io.seriatim.engine.Engine}.
 *
 * <p>
 * The public types are the whole API. The rest, bottom to top: {@code PushLog} takes the pushes in one order;
 * {@code Tracker} derives from them what is ready; {@code Dispatcher} says who runs it ({@code LaneDispatcher} with
 * worker threads, {@code InlineDispatcher} in the calling thread); {@code EngineCore} joins them.
 */
@NullMarked
package io.seriatim.engine;

import org.jspecify.annotations.NullMarked;
