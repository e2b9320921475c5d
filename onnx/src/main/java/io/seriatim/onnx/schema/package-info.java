/**
 * Operation types of ONNX that PaddlePaddle does not have. Each family of schemas is a class whose {@code register}
 * method {@link io.seriatim.onnx.schema.OnnxOperations} lists. Their names begin with {@code onnx_}.
 */
@NullMarked
package io.seriatim.onnx.schema;

import org.jspecify.annotations.NullMarked;
