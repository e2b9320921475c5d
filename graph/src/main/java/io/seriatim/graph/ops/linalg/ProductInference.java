package io.seriatim.graph.ops.linalg;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.ops.common.ComplexNumbers;
import io.seriatim.graph.ops.common.QuantizedScales;
import io.seriatim.tensor.DType;
import java.util.Arrays;

/** The inference of products of matrices. */
final class ProductInference {
    private ProductInference() {
    }

    /** Leading dimensions broadcast, and a vector is a row on the left and a column on the right. */
    static void broadcasting(Inference inference) {
        long[] x = inference.dims("X");
        long[] y = inference.dims("Y");
        operands(inference, x, y);
        boolean rowX = x.length == 1;
        boolean columnY = y.length == 1;
        boolean transposeX = inference.attrs().getBool("trans_x") && !rowX;
        boolean transposeY = inference.attrs().getBool("trans_y") && !columnY;
        inner(inference, x[x.length - (transposeX ? 2 : 1)], y[columnY ? 0 : y.length - (transposeY ? 1 : 2)]);
        long[] batch = batch(inference, Arrays.copyOf(x, Math.max(0, x.length - 2)),
                Arrays.copyOf(y, Math.max(0, y.length - 2)));
        long[] out = Arrays.copyOf(batch, batch.length + (rowX ? 0 : 1) + (columnY ? 0 : 1));
        if (!rowX) {
            out[batch.length] = x[x.length - (transposeX ? 1 : 2)];
        }
        if (!columnY) {
            out[out.length - 1] = y[y.length - (transposeY ? 2 : 1)];
        }
        inference.set("Out", result(inference), out);
    }

    static void operands(Inference inference, long[] x, long[] y) {
        inference.require(x.length >= 1 && y.length >= 1, "X and Y must have at least one dimension");
        // Quantized products check their own types: levels may be stored as float32.
        if (!inference.type().startsWith(QuantizedScales.PREFIX)) {
            ComplexNumbers.promoted(inference, inference.dtype("X"), inference.dtype("Y"));
        }
    }

    private static DType result(Inference inference) {
        return ComplexNumbers.promoted(inference.dtype("X"), inference.dtype("Y"));
    }

    static void inner(Inference inference, long x, long y) {
        inference.require(x < 0 || y < 0 || x == y,
                "the columns of X must be as many as the rows of Y, but are %d and %d", x, y);
    }

    /** Of the longer shape an unknown dimension stays unknown, as in Paddle. */
    private static long[] batch(Inference inference, long[] x, long[] y) {
        long[] batch = inference.broadcast(x, y);
        long[] longer = x.length > y.length ? x : y;
        for (int i = 0; x.length != y.length && i < longer.length; i++) {
            batch[i] = longer[i] < 0 ? -1 : batch[i];
        }
        return batch;
    }

    /** Leading dimensions are as many on both sides, or none on one; those of X stay. */
    static void equalBatches(Inference inference) {
        long[] x = inference.dims("X");
        long[] y = inference.dims("Y");
        operands(inference, x, y);
        boolean transposeX = inference.attrs().getBool("transpose_X");
        boolean transposeY = inference.attrs().getBool("transpose_Y");
        long[] left = x.length == 1 ? new long[]{1, x[0]} : x;
        long[] right = y.length == 1 ? new long[]{y[0], 1} : y;
        inner(inference, left[left.length - (transposeX ? 2 : 1)], right[right.length - (transposeY ? 1 : 2)]);
        long[] out = (left.length > 2 ? left : right.length > 2 ? right : left).clone();
        checkBatches(inference, left, right);
        out[out.length - 2] = left[left.length - (transposeX ? 1 : 2)];
        out[out.length - 1] = right[right.length - (transposeY ? 2 : 1)];
        inference.set("Out", result(inference), withoutOnes(out, x.length == 1, y.length == 1));
    }

    private static void checkBatches(Inference inference, long[] left, long[] right) {
        long first = Inference.size(Arrays.copyOf(left, left.length - 2));
        long second = Inference.size(Arrays.copyOf(right, right.length - 2));
        inference.require(left.length == 2 || right.length == 2 || first < 0 || second < 0 || first == second,
                "X and Y must be as many matrices, or one of them a single one, but are %d and %d; use matmul_v2 "
                        + "to broadcast",
                first,
                second);
    }

    private static long[] withoutOnes(long[] dims, boolean rows, boolean columns) {
        long[] out = dims;
        if (rows && out[out.length - 2] == 1) {
            out = Arrays.copyOf(out, out.length - 1);
            out[out.length - 1] = dims[dims.length - 1];
        }
        return columns && out[out.length - 1] == 1 ? Arrays.copyOf(out, out.length - 1) : out;
    }

    /** X and Y are seen as matrices by taking leading dimensions together, and the others. */
    static void flattened(Inference inference) {
        long[] x = inference.dims("X");
        long[] y = inference.dims("Y");
        operands(inference, x, y);
        int xRows = columns(inference, "x_num_col_dims", x.length);
        int yRows = columns(inference, "y_num_col_dims", y.length);
        inner(inference, Inference.size(Arrays.copyOfRange(x, xRows, x.length)),
                Inference.size(Arrays.copyOf(y, yRows)));
        long[] out = Arrays.copyOf(x, xRows + y.length - yRows);
        System.arraycopy(y, yRows, out, xRows, y.length - yRows);
        inference.set("Out", result(inference), out);
    }

    private static int columns(Inference inference, String attribute, int rank) {
        int dims = inference.attrs().getInt(attribute);
        inference.require(dims >= 1 && dims < rank, "%s must be from 1 to %d, but is %d", attribute, rank - 1, dims);
        return dims;
    }

    /** X [b, m, k] and Y [b, k, n]. */
    static void batches(Inference inference) {
        long[] x = inference.dims("X");
        long[] y = inference.dims("Y");
        operands(inference, x, y);
        inference.require(x.length == 3 && y.length == 3, "X and Y must have three dimensions, but have %d and %d",
                x.length, y.length);
        inference.require(x[0] < 0 || y[0] < 0 || x[0] == y[0], "X and Y must be as many matrices, but are %d and %d",
                x[0], y[0]);
        inner(inference, x[2], y[1]);
        inference.set("Out", result(inference), Math.max(x[0], y[0]), x[1], y[2]);
    }
}
