/**
 * The command {@code seriatim bench executor}: plans beside a bare loop over the same kernels in the same rounds, their
 * memory, and how long it takes to make them.
 *
 * <p>
 * Data passes the types in this order: {@code TinyProgram} and {@code Model} (what is run) → {@code Turns} (all
 * contenders, round after round) → {@code Timings} → the tables of {@code OverheadBench} and {@code ModelBench}.
 * {@code BuildBench} measures each program in a process of its own.
 */
@NullMarked
package io.seriatim.benchmarks.executor;

import org.jspecify.annotations.NullMarked;
