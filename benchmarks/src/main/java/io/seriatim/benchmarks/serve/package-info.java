/**
 * The command {@code seriatim bench serve}: requests of one example each, from several threads to one plan.
 *
 * <p>
 * Data flow: {@code BenchServeCommand} → {@code PlanService} and the sessions of each {@code ServePeer} →
 * {@code ServeBench} (alternates between them) with {@code Clients} (one time slice) → {@code Answers} (latencies) →
 * the table.
 */
@NullMarked
package io.seriatim.benchmarks.serve;

import org.jspecify.annotations.NullMarked;
