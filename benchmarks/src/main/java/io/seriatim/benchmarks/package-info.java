/**
 * Measurements. They are not part of the product: nothing of this module is published.
 *
 * <p>
 * {@code Benchmarks} gives the command line the subcommands of {@code seriatim bench}. Each has a package of its own;
 * {@code common} is what they share; {@code mxnet} and {@code onnx} drive other systems for comparison.
 */
@NullMarked
package io.seriatim.benchmarks;

import org.jspecify.annotations.NullMarked;
