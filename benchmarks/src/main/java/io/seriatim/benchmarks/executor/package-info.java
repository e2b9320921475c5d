/**
 * The command {@code seriatim bench executor}: compares plans with a bare loop over the same kernels in the same
 * rounds, and measures their memory and compilation time.
 *
 * <p>
 * Data flow: {@code TinyProgram} and {@code Model} (the programs) → {@code Turns} (runs all contenders in each round) →
 * {@code Timings} → the tables of {@code OverheadBench} and {@code ModelBench}. {@code BuildBench} measures each
 * program in a separate process.
 */
@NullMarked
package io.seriatim.benchmarks.executor;

import org.jspecify.annotations.NullMarked;
