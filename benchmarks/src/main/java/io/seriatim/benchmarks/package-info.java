/**
 * Benchmarks. They are not part of the product, and this module is not published.
 *
 * <p>
 * {@code Benchmarks} gives the command line the subcommands of {@code seriatim bench}. Each has its own package;
 * {@code common} holds shared code; {@code mxnet} and {@code onnx} drive other systems for comparison.
 */
@NullMarked
package io.seriatim.benchmarks;

import org.jspecify.annotations.NullMarked;
