/** Code that operations of several families share: axes, broadcasting, layouts, windows, double gradients. */
@NullMarked
package io.seriatim.graph.ops.common;

import org.jspecify.annotations.NullMarked;
