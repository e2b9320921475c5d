/**
 * The training loop: {@link io.seriatim.train.Trainer} trains a {@link io.seriatim.train.Model} on data, notifies
 * listeners, and writes checkpoints.
 */
@NullMarked
package io.seriatim.train;

import org.jspecify.annotations.NullMarked;
