/**
 * The command {@code seriatim bench serve}: requests of one example each, from several threads to one plan.
 *
 * <p>
 * Data passes the types in this order: {@code BenchServeCommand} → {@code PlanService} (ours) and each
 * {@code ServePeer}'s session → {@code ServeBench} (both in turn) with {@code Clients} (one slice of time) →
 * {@code Answers} (what was counted) → the table.
 */
@NullMarked
package io.seriatim.benchmarks.serve;

import org.jspecify.annotations.NullMarked;
