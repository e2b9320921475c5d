/** Operations that stand for several others, as PaddlePaddle's inference passes write them. */
@NullMarked
package io.seriatim.graph.ops.fused;

import org.jspecify.annotations.NullMarked;
