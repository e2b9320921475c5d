/**
 * Optimizers, learning rate schedules, weight decay, gradient clipping and mixed precision, as settings: the builder
 * appends the operations that they call for.
 */
@NullMarked
package io.seriatim.graph.optimizer;

import org.jspecify.annotations.NullMarked;
