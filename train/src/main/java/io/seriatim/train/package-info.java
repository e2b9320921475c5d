/**
 * The training loop: {@link io.seriatim.train.Trainer} runs a {@link io.seriatim.train.Model} over data, tells
 * listeners, and keeps checkpoints.
 */
@NullMarked
package io.seriatim.train;

import org.jspecify.annotations.NullMarked;
