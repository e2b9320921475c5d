/**
 * Files: PaddlePaddle's programs and parameters, and inference models in any format that is found, see
 * {@link io.seriatim.graph.format.ModelFormat}.
 */
@NullMarked
package io.seriatim.graph.format;

import org.jspecify.annotations.NullMarked;
