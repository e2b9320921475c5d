/**
 * A custom training: custom data and a custom network. Start with {@link io.seriatim.examples.train.SpiralTraining}.
 */
@NullMarked
package io.seriatim.examples.train;

import org.jspecify.annotations.NullMarked;
