package io.seriatim.graph.ops.linalg;

import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.ops.common.ComplexNumbers;
import io.seriatim.graph.ops.common.QuantizedScales;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.PostOp;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.Unary;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A product of matrices, alpha · x · y, and its gradients, all of them products again whose operands are read
 * transposed where they are. Operands are given with the shapes of their variables; `left` and `right` are the shapes
 * in which they are matrices: [..., rows, columns], with leading dimensions that broadcast.
 */
record Product(Lowering l, Shape left, Shape right, boolean transposeX, boolean transposeY, float alpha) {
    /** alpha · x · y, with the shape of a matrix. */
    Operand forward(Operand x, Operand y) {
        return multiply(transposeX, transposeY, l.reshape(x, left.dims()), l.reshape(y, right.dims()));
    }

    /** alpha · x · y of int8 levels, times scales of all elements or of each column. */
    Operand quantized(Operand x, Operand y, Operand scales) {
        Operand a = l.reshape(x, left.dims());
        Operand b = l.reshape(l.cast(y, DType.INT8), right.dims());
        MatMul product = new MatMul(transposeX, transposeY, false, QuantizedScales.SCALED);
        long[] dims = new MatMul(transposeX, transposeY, false, List.of())
                .infer(a.spec().rowMajor(), b.spec().rowMajor())[0].shape().dims();
        Operand result = l.temporary(TensorSpec.of(DType.FLOAT32, dims));
        l.into(product, List.of(a, b, l.linear(scales, alpha, 0)), List.of(result));
        return result;
    }

    /** The gradient of x: dout · yᵀ. */
    Operand gradX(Operand dout, Operand y, Shape shape) {
        Operand d = matrix(dout);
        Operand factor = ComplexNumbers.conjugate(l, l.reshape(y, right.dims()));
        Operand grad = transposeX ? multiply(transposeY, true, factor, d) : multiply(false, !transposeY, d, factor);
        return sum(grad, left).reshape(shape.dims());
    }

    /** The gradient of y: xᵀ · dout. */
    Operand gradY(Operand x, Operand dout, Shape shape) {
        boolean rows = right.rank() == 2 && left.rank() > 2 && !transposeX;
        Operand d = rows ? rows(matrix(dout)) : matrix(dout);
        Operand matrix = ComplexNumbers.conjugate(l, l.reshape(x, left.dims()));
        Operand factor = rows ? rows(matrix) : matrix;
        Operand grad = transposeY ? multiply(true, transposeX, d, factor) : multiply(!transposeX, false, factor, d);
        return sum(grad, right).reshape(shape.dims());
    }

    /** All leading dimensions as rows: one large product instead of many whose results are added. */
    private Operand rows(Operand matrix) {
        long columns = matrix.dim(-1);
        return l.reshape(matrix, columns == 0 ? 0 : matrix.shape().size() / columns, columns);
    }

    private Operand matrix(Operand dout) {
        long m = left.dim(transposeX ? -1 : -2);
        long n = right.dim(transposeY ? -2 : -1);
        Shape batch = left.slice(0, left.rank() - 2).broadcast(right.slice(0, right.rank() - 2));
        long[] dims = Arrays.copyOf(batch.dims(), batch.rank() + 2);
        dims[batch.rank()] = m;
        dims[batch.rank() + 1] = n;
        return l.reshape(dout, dims);
    }

    private Operand multiply(boolean first, boolean second, Operand a, Operand b) {
        List<PostOp> scale = alpha == 1 ? List.of() : List.of(new PostOp.Apply(Unary.Function.LINEAR, alpha, 0));
        DType dtype = ComplexNumbers.promoted(a.dtype(), b.dtype());
        if (dtype.isComplex()) {
            Operand product = l.run(new MatMul(first, second, false, List.of()), l.cast(a, dtype), l.cast(b, dtype));
            return alpha == 1 ? product : l.linear(product, alpha, 0);
        }
        return l.run(new MatMul(first, second, false, scale), a, b);
    }

    /** Summed over the leading dimensions that were broadcast. */
    private Operand sum(Operand grad, Shape shape) {
        int added = grad.rank() - shape.rank();
        List<Integer> axes = IntStream.range(0, grad.rank() - 2)
                .filter(i -> i < added || (shape.dim(i - added) == 1 && grad.dim(i) != 1))
                .boxed().toList();
        return axes.isEmpty() ? grad : l.run(new Reduction(Reduction.Function.SUM, axes, true), grad);
    }

    /** Sets an output to the sum of those terms that are there, or to zeros. */
    static void sum(Lowering l, String slot, @Nullable Operand... terms) {
        Shape shape = l.output(slot).shape();
        List<Operand> all = new ArrayList<>(
                Stream.of(terms).filter(term -> term != null).map(term -> term.reshape(shape.dims())).toList());
        Operand sum = all.isEmpty() ? l.fill(0, l.output(slot).spec()) : all.getFirst();
        for (int i = 1; i < all.size(); i++) {
            sum = ComplexNumbers.binary(l, Binary.Function.ADD, sum, all.get(i));
        }
        l.out(slot, sum);
    }
}
