/**
 * Turns tasks into a plan: it selects places and inserts transfers, tiles tasks for threads, derives dependencies,
 * assigns streams, computes lifetimes and plans memory.
 *
 * <p>
 * Input: the rewritten tasks. Output: a {@link io.seriatim.executor.schedule.CompiledPlan}, which is immutable and
 * shared by all runs. Only {@code Placement}, {@code Priorities} and {@code Tiling} replace or reorder tasks; the later
 * steps only read them.
 */
@NullMarked
package io.seriatim.executor.schedule;

import org.jspecify.annotations.NullMarked;
