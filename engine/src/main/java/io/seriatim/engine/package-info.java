/**
 * The dependency engine. Start with {@link io.seriatim.engine.Engine}.
 *
 * <p>
 * This package is the whole API; the other packages are not exported. From bottom to top, {@code sync} holds locks,
 * {@code dependency} derives which operations are ready, {@code queue} and {@code log} hold queues of operations,
 * {@code thread} holds the state of one thread, {@code core} combines these into an engine, {@code pending} implements
 * waits and snapshots, {@code dispatch} runs ready operations, and {@code front} implements the API, which finds it
 * through {@code runtime}.
 */
@NullMarked
package io.seriatim.engine;

import org.jspecify.annotations.NullMarked;
