/**
 * Passes that rewrite tasks so that they take less time or memory. {@link io.seriatim.executor.pass.PassPipeline} lists
 * all of them in their order, with the reason for it.
 *
 * <p>
 * In: tasks in the order of the program. Out: tasks that compute the same. A pass may replace, join, split and drop
 * tasks and add values to the table; it must not know of threads, streams or memory, which are decided later. To add a
 * pass see docs/add-a-pass.md.
 */
@NullMarked
package io.seriatim.executor.pass;

import org.jspecify.annotations.NullMarked;
