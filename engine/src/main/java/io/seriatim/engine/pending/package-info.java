/**
 * Waits, and walks over the pending operations.
 *
 * <p>
 * In: calls that wait, close or take a snapshot. Out: the ends of waits, errors for waits that would close a cycle, and
 * snapshots. A walk holds the tracker lock for one time slice at a time.
 */
@NullMarked
package io.seriatim.engine.pending;

import org.jspecify.annotations.NullMarked;
