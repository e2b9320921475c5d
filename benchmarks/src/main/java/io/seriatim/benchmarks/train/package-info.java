/**
 * The command {@code seriatim bench train}: the works that peers do too, each in a process of its own.
 *
 * <p>
 * Data passes the types in this order: {@code TrainWork} (what there is) → {@code TrainPrograms} with {@code Networks}
 * and {@code Cells} (its program and data) → {@code PlannedSteps} (a plan that is run step by step) →
 * {@code WorkProcess} (measures it, in its process) → {@code Figures} (a line of JSON) → {@code Ratios} (the tables
 * beside each {@code Peer}).
 */
@NullMarked
package io.seriatim.benchmarks.train;

import org.jspecify.annotations.NullMarked;
