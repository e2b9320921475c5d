/**
 * The command {@code seriatim bench train}: workloads that the peers run too, each in a separate process.
 *
 * <p>
 * Data flow: {@code TrainWork} (the workloads) → {@code TrainPrograms} with {@code Networks} and {@code Cells} (program
 * and data) → {@code PlannedSteps} (a plan that runs step by step) → {@code WorkProcess} (measures in its process) →
 * {@code Figures} (a line of JSON) → {@code Ratios} (the tables with each {@code Peer}).
 */
@NullMarked
package io.seriatim.benchmarks.train;

import org.jspecify.annotations.NullMarked;
