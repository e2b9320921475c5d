/**
 * Queues of operations that allocate nothing for an element.
 *
 * <p>
 * In: operations. Out: the same operations, by push order ({@code OpQueue}), by priority ({@code ReadyQueue}) or by number
 * ({@code ReadyTree}).
 */
@NullMarked
package io.seriatim.engine.queue;

import org.jspecify.annotations.NullMarked;
