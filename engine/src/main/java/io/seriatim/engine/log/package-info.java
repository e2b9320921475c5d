/**
 * The log of pushes, in which pushing threads and the tracker meet.
 *
 * <p>
 * In: operations, appended under the push lock. Out: the same operations in that one order, taken under the tracker lock;
 * and what both sides must know of each other: how far the engine has come ({@code Counts}), and whether someone waits
 * ({@code Attention}).
 */
@NullMarked
package io.seriatim.engine.log;

import org.jspecify.annotations.NullMarked;
