/**
 * The plan compiler. It lowers a block, applies the passes, schedules the tasks and prepares the kernels.
 *
 * <p>
 * Input: a numbered block, shapes and options. Output: a {@link io.seriatim.executor.schedule.CompiledPlan}.
 */
@NullMarked
package io.seriatim.executor.compile;

import org.jspecify.annotations.NullMarked;
