/** Files that PaddlePaddle reads and writes: programs and parameters. */
@NullMarked
package io.seriatim.graph.format;

import org.jspecify.annotations.NullMarked;
