package io.seriatim.onnx.proto;

import org.jspecify.annotations.Nullable;

/**
 * An input or output of a graph.
 *
 * @param name
 *            its name
 * @param type
 *            its type; null if it is not declared
 */
public record OnnxValue(String name, @Nullable OnnxType type) {
}
