/**
 * Training in a program of one's own: own data, own network. {@link io.seriatim.examples.train.SpiralTraining} is where
 * to begin.
 */
@NullMarked
package io.seriatim.examples.train;

import org.jspecify.annotations.NullMarked;
