/**
 * Custom trainings: {@link io.seriatim.examples.train.SpiralTraining} of custom data and a custom network,
 * {@link io.seriatim.examples.train.FineTuning} of a model that a file of another format holds.
 */
@NullMarked
package io.seriatim.examples.train;

import org.jspecify.annotations.NullMarked;
