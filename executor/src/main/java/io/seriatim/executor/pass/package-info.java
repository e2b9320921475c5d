/**
 * Passes that rewrite tasks so that they take less time or memory. {@link io.seriatim.executor.pass.PassPipeline}
 * contains the ordered list of all passes, with the reasons for the order.
 *
 * <p>
 * Input: tasks in program order. Output: tasks that compute the same. A pass may replace, fuse, split and remove tasks
 * and add values to the table. It must not depend on threads, streams or memory, which the scheduler decides later.
 * docs/add-a-pass.md describes how to add a pass.
 */
@NullMarked
package io.seriatim.executor.pass;

import org.jspecify.annotations.NullMarked;
