/**
 * From tasks to a plan: places and transfers, tiles for threads, dependencies, streams, lifetimes, memory, and the
 * order.
 *
 * <p>
 * In: the rewritten tasks. Out: a {@link io.seriatim.executor.schedule.CompiledPlan}, immutable and shared by all runs.
 * Only the placement and the tiling change tasks; everything after them reads.
 */
@NullMarked
package io.seriatim.executor.schedule;

import org.jspecify.annotations.NullMarked;
