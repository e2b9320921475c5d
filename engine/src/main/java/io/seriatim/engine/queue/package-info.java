/**
 * Queues of operations that allocate nothing per element.
 *
 * <p>
 * In: operations. Out: the same operations, in push order ({@code OpQueue}), by priority ({@code ReadyQueue}) or by
 * index ({@code ReadyTree}).
 */
@NullMarked
package io.seriatim.engine.queue;

import org.jspecify.annotations.NullMarked;
