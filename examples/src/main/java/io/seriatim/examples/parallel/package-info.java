/**
 * Programs that people know, each with its serial and its parallel form in one file, and with equal results to the bit.
 * {@link io.seriatim.examples.parallel.Cholesky} factorises a matrix in tiles.
 * {@link io.seriatim.examples.parallel.Alignment} aligns two strings by dynamic programming, as a wavefront of blocks.
 * {@link io.seriatim.examples.parallel.EventPipeline} passes events through stages, with back-pressure and failures.
 * {@link io.seriatim.examples.parallel.KMeans} clusters points in shards, with a reduction in each iteration.
 * {@link io.seriatim.examples.parallel.HeatEquation} simulates a grid in bands that exchange their edges.
 */
@NullMarked
package io.seriatim.examples.parallel;

import org.jspecify.annotations.NullMarked;
