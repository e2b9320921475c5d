package io.seriatim.train.data;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;

/**
 * One of the tensors of an example.
 *
 * @param name
 *            the name, such as {@code image}
 * @param dtype
 *            the element type
 * @param shape
 *            the shape of one example; a batch has the number of examples as an additional first dimension
 */
public record Field(String name, DType dtype, Shape shape) {
}
