/**
 * The command {@code seriatim bench engine}: five workloads, the compared systems, and the comparison. Other engines
 * are added through {@link io.seriatim.benchmarks.engine.EnginePeer}.
 *
 * <p>
 * Data flow: {@code Workload} (a serial program) → {@code Work} (its size and its pushing threads) → {@code Race} (runs
 * every {@code Contender} in turn in each round) → {@code Standings} → {@code RaceReport}.
 */
@NullMarked
package io.seriatim.benchmarks.engine;

import org.jspecify.annotations.NullMarked;
