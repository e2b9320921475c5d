/**
 * A node of a graph as its translator sees it: operands whose types are known, attributes with their defaults, and
 * means to append operations to the program.
 */
@NullMarked
package io.seriatim.onnx.node;

import org.jspecify.annotations.NullMarked;
