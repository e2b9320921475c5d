/** Update steps of optimizers, and what mixed precision and averaging add to them. */
@NullMarked
package io.seriatim.graph.ops.optimizer;

import org.jspecify.annotations.NullMarked;
