/**
 * A graph of ONNX that is being written: nodes, constants and names, and the bytes that they become.
 */
@NullMarked
package io.seriatim.onnx.emit;

import org.jspecify.annotations.NullMarked;
