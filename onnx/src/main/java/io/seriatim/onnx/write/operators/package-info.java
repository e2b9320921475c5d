/**
 * Writers of operations, one class for each family. Each writes an operation as nodes of ONNX; a new operation needs
 * one line in the {@code register} method of its family.
 */
@NullMarked
package io.seriatim.onnx.write.operators;

import org.jspecify.annotations.NullMarked;
