/**
 * Runs compiled plans. A frame holds the memory and arguments of a run. Run loops run its tasks on one thread, on
 * several threads, on an engine or on devices. {@code Interpretation} runs operations that have no kernels.
 *
 * <p>
 * Input: a {@link io.seriatim.executor.schedule.CompiledPlan} and the external values of a run. Output: the fetched
 * values. A plan is never changed here. One run at a time uses a frame.
 */
@NullMarked
package io.seriatim.executor.run;

import org.jspecify.annotations.NullMarked;
