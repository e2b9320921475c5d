/**
 * Reads models in the format of ONNX into programs. Start with {@link io.seriatim.onnx.OnnxModels}.
 */
@NullMarked
package io.seriatim.onnx;

import org.jspecify.annotations.NullMarked;
