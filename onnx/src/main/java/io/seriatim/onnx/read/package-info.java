/**
 * Translates whole models: imports graphs node by node, inlines functions, and names what is not known.
 */
@NullMarked
package io.seriatim.onnx.read;

import org.jspecify.annotations.NullMarked;
