package io.seriatim.train.data;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;

/**
 * One of the tensors that an example consists of.
 *
 * @param name
 *            what it is, such as {@code image}
 * @param dtype
 *            its type
 * @param shape
 *            of one example; a batch has the number of examples before it
 */
public record Field(String name, DType dtype, Shape shape) {
}
