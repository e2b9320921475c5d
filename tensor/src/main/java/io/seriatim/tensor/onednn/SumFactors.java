package io.seriatim.tensor.onednn;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.PostOp;
import io.seriatim.tensor.internal.ffi.Attributes;
import io.seriatim.tensor.internal.ffi.Dnnl;
import io.seriatim.tensor.internal.ffi.DnnlConstants;
import java.util.Arrays;
import java.util.List;

/** First post-ops of a product of 8-bit integers that the library has in a faster form. */
final class SumFactors {
    private static final PostOp TIMES = new PostOp.Combine(Binary.Function.MULTIPLY);
    private static final PostOp PLUS = new PostOp.Combine(Binary.Function.ADD);

    private SumFactors() {
    }

    /**
     * Returns the number of post-ops that become other arguments: first a factor of each column, or of all, as the
     * scale of the weights, then one addend of each column as the bias.
     *
     * @param product
     *            the product
     * @param operands
     *            the operands of its bias and post-ops, in order
     * @param result
     *            the result
     */
    static int of(MatMul product, List<MatrixView> operands, MatrixView result) {
        List<PostOp> postOps = product.postOps();
        if (product.bias() || postOps.isEmpty() || !postOps.getFirst().equals(TIMES)
                || !(isSingle(operands.getFirst()) || isRow(operands.getFirst(), result))) {
            return 0;
        }
        return postOps.size() > 1 && postOps.get(1).equals(PLUS) && isRow(operands.get(1), result) ? 2 : 1;
    }

    /** Asks a primitive to scale the weights if there are factors of the sums, by columns if there are several. */
    static void set(int ofSums, Dnnl dnnl, Attributes attributes, List<MatrixView> operands) {
        if (ofSums > 0) {
            MatrixView factors = operands.getFirst();
            dnnl.setScales(attributes, DnnlConstants.WEIGHTS, isSingle(factors) ? 0 : 1 << (factors.dims().length - 1));
        }
    }

    /** Returns the argument for the factors, which follow both operands. */
    static Operand operand(SequenceBuilder builder, MatrixView factors) {
        return new Operand(DnnlConstants.SCALES | DnnlConstants.WEIGHTS, 2,
                builder.rowMajor(Shape.of(factors.dims()).size()));
    }

    private static boolean isSingle(MatrixView operand) {
        return operand.dtype() == DType.FLOAT32 && Arrays.stream(operand.dims()).allMatch(dim -> dim == 1);
    }

    /** Whether an operand has one element of float32 for each column of the result, one after the other. */
    private static boolean isRow(MatrixView operand, MatrixView result) {
        int last = result.dims().length - 1;
        return operand.dtype() == DType.FLOAT32 && operand.dims()[last] == result.dims()[last]
                && operand.strides()[last] == 1 && Shape.of(operand.dims()).size() == result.dims()[last];
    }
}
