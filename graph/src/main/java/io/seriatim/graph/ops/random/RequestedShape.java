package io.seriatim.graph.ops.random;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.ops.common.Dims;
import io.seriatim.tensor.Shape;
import java.util.Arrays;

/** The shape that a creating operation is asked for: a list of tensors, else an attribute, else one tensor. */
final class RequestedShape {
    static final String TENSOR = "ShapeTensor";
    static final String LIST = "ShapeTensorList";

    private RequestedShape() {
    }

    /** The dimensions, −1 where they are not known yet. */
    static long[] infer(Inference inference) {
        long[] attribute = inference.attrs().getLongs("shape");
        long[] dims;
        if (inference.has(LIST)) {
            dims = inference.listed(LIST);
        } else if (attribute.length > 0 || !inference.has(TENSOR)) {
            dims = attribute;
        } else {
            dims = ofTensor(inference);
        }
        return checked(inference, dims);
    }

    private static long[] ofTensor(Inference inference) {
        long[] values = inference.values(TENSOR);
        if (values != null) {
            return values;
        }
        long count = Math.max(1, Inference.size(inference.dims(TENSOR)));
        inference.require(count <= Shape.MAX_RANK, "%s must hold at most %d dimensions, but has %d numbers", TENSOR,
                Shape.MAX_RANK, count);
        return Dims.unknown(count);
    }

    /** Another dimension than those given is the batch's. */
    static long[] batchSizeLike(Inference inference) {
        long[] dims = inference.attrs().getLongs("shape");
        int from = inference.attrs().getInt("input_dim_idx");
        int to = inference.attrs().getInt("output_dim_idx");
        long[] input = inference.dims("Input");
        inference.require(from >= 0 && from < input.length, "input_dim_idx must be from 0 to %d, but is %d",
                input.length - 1, from);
        inference.require(to >= 0 && to < dims.length, "output_dim_idx must be from 0 to %d, but is %d",
                dims.length - 1, to);
        dims[to] = input[from];
        return checked(inference, dims);
    }

    private static long[] checked(Inference inference, long[] dims) {
        inference.require(Arrays.stream(dims).allMatch(dim -> dim >= -1),
                "the dimensions must be 0 or more (-1: not known yet), but are %s",
                Numbers.text(dims));
        return dims;
    }
}
