/**
 * Waits, and walks over the operations that are pending.
 *
 * <p>
 * In: calls that wait, close, or ask for a snapshot. Out: waits that have ended, the cycle that a wait would close,
 * snapshots. A walk holds the tracker lock for a slice of time only.
 */
@NullMarked
package io.seriatim.engine.pending;

import org.jspecify.annotations.NullMarked;
