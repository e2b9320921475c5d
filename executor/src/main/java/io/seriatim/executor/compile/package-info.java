/**
 * The compiler of plans: takes a block through lowering, passes and schedule, and has the kernels made.
 *
 * <p>
 * In: a numbered block, shapes and options. Out: a {@link io.seriatim.executor.schedule.CompiledPlan}.
 */
@NullMarked
package io.seriatim.executor.compile;

import org.jspecify.annotations.NullMarked;
