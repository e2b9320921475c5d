package io.seriatim.tensor.linalg;

import io.seriatim.tensor.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.Function;

/**
 * Applies a function to each place of batches of matrices. The last two dimensions of a tensor are those of its
 * matrices; the elements are float32 or float64, and the function computes in double precision.
 */
public final class MatrixBatch {
    private MatrixBatch() {
    }

    /**
     * Applies a function to the matrices in the same place of all inputs, for each place.
     *
     * @param count
     *            the number of matrices in each tensor
     * @param in
     *            the inputs, tensors of the host
     * @param out
     *            the outputs, row-major tensors of the host
     * @param function
     *            gives one matrix for each output. It must not keep its arguments: they are used again for the next
     *            place
     * @throws IllegalArgumentException
     *             if the function throws one; the message names the place
     */
    public static void apply(int count, List<Tensor> in, List<Tensor> out,
            Function<List<Matrix>, List<Matrix>> function) {
        List<double[]> read = in.stream().map(Tensor::toDoubleArray).toList();
        List<double[]> written = out.stream().map(tensor -> new double[Math.toIntExact(tensor.shape().size())])
                .toList();
        List<Matrix> matrices = in.stream().map(tensor -> new Matrix(dim(tensor, -2), dim(tensor, -1))).toList();
        for (int place = 0; place < count; place++) {
            for (int i = 0; i < matrices.size(); i++) {
                Matrix matrix = matrices.get(i);
                matrix.copyFrom(read.get(i), place * matrix.rows() * matrix.columns());
            }
            List<Matrix> results = apply(place, count, matrices, function);
            for (int i = 0; i < written.size(); i++) {
                Matrix result = results.get(i);
                result.copyTo(written.get(i), place * result.rows() * result.columns());
            }
        }
        for (int i = 0; i < written.size(); i++) {
            write(written.get(i), out.get(i));
        }
    }

    private static int dim(Tensor tensor, int axis) {
        return Math.toIntExact(tensor.shape().dim(axis));
    }

    private static List<Matrix> apply(int place, int count, List<Matrix> matrices,
            Function<List<Matrix>, List<Matrix>> function) {
        try {
            return function.apply(matrices);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("matrix " + place + " of " + count + ": " + e.getMessage(), e);
        }
    }

    private static void write(double[] values, Tensor to) {
        try (Tensor from = Tensor.of(to.dtype(), values, to.shape().dims())) {
            MemorySegment.copy(from.memory(), from.offset(), to.memory(), to.offset(), to.spec().bytes());
        }
    }
}
