/**
 * Runs of a plan: the frame with its memory and arguments, the loops that run tasks on one thread, on several, on an
 * engine or on devices, and what interprets operations that have no kernels.
 *
 * <p>
 * In: a {@link io.seriatim.executor.schedule.CompiledPlan} and what a run is given. Out: the values that are wanted. A
 * plan is never changed here; a frame belongs to one run at a time.
 */
@NullMarked
package io.seriatim.executor.run;

import org.jspecify.annotations.NullMarked;
