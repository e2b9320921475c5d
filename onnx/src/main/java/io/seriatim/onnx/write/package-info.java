/**
 * Writes models as ONNX files: each operation becomes one or more nodes, by the writers of its family in
 * {@code write.operators}.
 */
@NullMarked
package io.seriatim.onnx.write;

import org.jspecify.annotations.NullMarked;
