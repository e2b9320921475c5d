package io.seriatim.onnx.proto;

import java.util.List;

/**
 * A tensor of which most elements are 0.
 *
 * @param values
 *            the other elements, of one dimension
 * @param indices
 *            their places: flat, or one row for each
 * @param dims
 *            the dimensions of the whole
 */
public record OnnxSparseTensor(OnnxTensor values, OnnxTensor indices, List<Long> dims) {
}
