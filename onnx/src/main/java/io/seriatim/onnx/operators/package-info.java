/**
 * Translators of ONNX's operators, one class for each family. Each translates a node into operations of the program;
 * a new operator needs one line in the {@code register} method of its family.
 */
@NullMarked
package io.seriatim.onnx.operators;

import org.jspecify.annotations.NullMarked;
