/** Listeners of a training: the progress bar, JSON lines, TensorBoard's event files. */
@NullMarked
package io.seriatim.train.metrics;

import org.jspecify.annotations.NullMarked;
