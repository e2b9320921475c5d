/**
 * The command {@code seriatim bench engine}: the five workloads that the engine is compared on, its contenders, and the
 * race between them. Other engines take part through {@link io.seriatim.benchmarks.engine.EnginePeer}.
 *
 * <p>
 * Data passes the types in this order: {@code Workload} (a serial program) → {@code Work} (how much of it, pushed by
 * how many threads) → {@code Race} (every {@code Contender} in turn, round after round) → {@code Standings} →
 * {@code RaceReport}.
 */
@NullMarked
package io.seriatim.benchmarks.engine;

import org.jspecify.annotations.NullMarked;
