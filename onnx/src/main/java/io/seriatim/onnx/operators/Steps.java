package io.seriatim.onnx.operators;

import io.seriatim.graph.translate.BlockBuilder;
import io.seriatim.graph.translate.OpAppender;
import io.seriatim.graph.translate.Ref;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/** Appends operations of formulas to a block. */
final class Steps {
    private final BlockBuilder block;

    Steps(BlockBuilder block) {
        this.block = block;
    }

    OpAppender op(String type) {
        return block.op(type);
    }

    BlockBuilder block() {
        return block;
    }

    Ref add(Ref x, Ref y) {
        return block.binary("elementwise_add", x, y);
    }

    Ref sub(Ref x, Ref y) {
        return block.binary("elementwise_sub", x, y);
    }

    Ref mul(Ref x, Ref y) {
        return block.binary("elementwise_mul", x, y);
    }

    Ref div(Ref x, Ref y) {
        return block.binary("elementwise_div", x, y);
    }

    /** x · factor + bias. */
    Ref linear(Ref x, double factor, double bias) {
        if (x.dtype() == DType.FLOAT64) {
            // The attributes of the operation are float32.
            return add(mul(x, block.scalar(DType.FLOAT64, factor)), block.scalar(DType.FLOAT64, bias));
        }
        return op("scale").in("X", x).attr("scale", factor).attr("bias", bias).out("Out");
    }

    Ref unary(String type, Ref x) {
        return block.unary(type, x);
    }

    Ref pow(Ref x, double exponent) {
        return op("pow").in("X", x).attr("factor", exponent).out("Out");
    }

    Ref where(Ref condition, Ref x, Ref y) {
        return op("onnx_where").in("Condition", condition).in("X", x).in("Y", y).out("Out");
    }

    /** A reduction that keeps the axes with length 1. */
    Ref reduce(String type, Ref x, int... axes) {
        return op(type).in("X", x).attr("dim", axes).attr("keep_dim", true).out("Out");
    }

    /** The axes from one on to the last. */
    static int[] axesFrom(int first, int rank) {
        return IntStream.range(first, rank).toArray();
    }

    Ref slice(Ref x, int axis, long from, long to) {
        return block.slice(x, axis, from, to);
    }

    /** Every second element of an axis, from one on. */
    Ref everySecond(Ref x, int axis, int from) {
        return op("strided_slice").in("Input", x).attr("axes", new int[]{axis}).attr("starts", new int[]{from})
                .attr("ends", new int[]{Integer.MAX_VALUE}).attr("strides", new int[]{2})
                .attr("infer_flags", new int[]{1}).out("Out");
    }

    /** Equal parts along an axis. */
    List<Ref> split(Ref x, int axis, int parts) {
        return op("split").in("X", x).attr("num", parts).attr("axis", axis < 0 ? axis + x.rank() : axis)
                .list("Out", parts);
    }

    Ref matmul(Ref x, Ref y, boolean transposeX, boolean transposeY) {
        return op("matmul_v2").in("X", x).in("Y", y).attr("trans_x", transposeX).attr("trans_y", transposeY)
                .out("Out");
    }

    Ref softmax(Ref x) {
        return op("softmax").in("X", x).attr("axis", -1).out("Out");
    }

    Ref cast(Ref x, DType dtype) {
        return block.cast(x, dtype);
    }

    Ref reshape(Ref x, long... dims) {
        return block.reshape(x, dims);
    }

    Ref transpose(Ref x, int... axes) {
        return block.transpose(x, axes);
    }

    Ref unsqueeze(Ref x, int... axes) {
        return block.unsqueeze(x, axes);
    }

    Ref squeeze(Ref x, int... axes) {
        return block.squeeze(x, axes);
    }

    Ref concat(int axis, Ref... parts) {
        return block.concat(axis, Arrays.asList(parts));
    }

    /** A value of one number for each channel, at axis 1 of images. */
    Ref perChannel(Ref x, int rank) {
        return rank <= 2 ? x : unsqueeze(x, axesFrom(1, rank - 1));
    }

    Ref length(Ref x, int axis) {
        return block.length(x, axis);
    }

    Ref scalar(DType dtype, double value) {
        return block.scalar(dtype, value);
    }

    Ref constant(Tensor value) {
        return block.model().constant("constant", value);
    }

    /** A tensor of one value whose shape is known only in a run: that of a vector of whole numbers. */
    Ref filled(Ref shape, DType dtype, double value) {
        return op("fill_constant").in("ShapeTensor", shape).attr("dtype", dtype).attr("value", (float) value)
                .attr("str_value", Double.toString(value)).out("Out");
    }

    /** A tensor like another, of one value. */
    Ref filledLike(Ref x, DType dtype, double value) {
        return op("fill_any_like").in("X", x).attr("value", (float) value).attr("dtype", dtype).out("Out");
    }

    /** The type in which intermediate results are computed. */
    static DType precise(DType dtype) {
        return dtype == DType.FLOAT16 || dtype == DType.BFLOAT16 ? DType.FLOAT32 : dtype;
    }

    static List<Ref> list(Ref... refs) {
        return new ArrayList<>(Arrays.asList(refs));
    }
}
