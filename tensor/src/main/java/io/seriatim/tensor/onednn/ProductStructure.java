package io.seriatim.tensor.onednn;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.MatMul;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * What a matrix product is, apart from its sizes: the computation, and operands with representative sizes. Equal sizes
 * have equal representatives, a size of 1 stays, and the dimensions of an operand are nested in memory as before, with
 * or without gaps. Whether the library has a fast product is decided once for each structure, with these sizes, so that
 * the decision does not depend on which sizes came first. Describing a product to the library takes it 0.2 to 0.5 ms,
 * and passes ask for many products that no run computes.
 *
 * @param computation
 *            the product
 * @param operands
 *            x, y, the operands of the bias and of post-ops, and the result
 */
record ProductStructure(MatMul computation, List<TensorSpec> operands) {
    private static final long FIRST = 32;
    private static final long STEP = 16;
    /** Larger sizes are not represented: the library counts some products of sizes in 32 bits. */
    private static final long MOST = 1 << 20;

    /** Returns whether the structure stands for products of these operands. */
    static boolean represents(List<TensorSpec> operands) {
        return operands.stream().allMatch(spec -> spec.dtype() == DType.FLOAT32
                && !(spec.layout() instanceof Layout.Opaque)
                && IntStream.range(0, spec.shape().rank())
                        .allMatch(i -> spec.shape().dim(i) >= 1 && spec.shape().dim(i) <= MOST));
    }

    static ProductStructure of(MatMul computation, List<TensorSpec> operands) {
        Map<Long, Long> sizes = new HashMap<>();
        sizes.put(1L, 1L);
        List<TensorSpec> represented = new ArrayList<>();
        for (TensorSpec spec : operands) {
            represented.add(represented(spec, sizes));
        }
        return new ProductStructure(computation, List.copyOf(represented));
    }

    private static TensorSpec represented(TensorSpec spec, Map<Long, Long> sizes) {
        long[] dims = spec.shape().dims();
        long[] otherDims = new long[dims.length];
        for (int i = 0; i < dims.length; i++) {
            long next = FIRST + STEP * (sizes.size() - 1);
            otherDims[i] = sizes.computeIfAbsent(dims[i], _ -> next);
        }
        return nested(spec, otherDims);
    }

    /** Returns a tensor of other sizes whose dimensions are nested in memory like those of another. */
    static TensorSpec nested(TensorSpec spec, long[] otherDims) {
        long[] dims = spec.shape().dims();
        long[] strides = spec.strides();
        int[] inwards = IntStream.range(0, dims.length).boxed()
                .sorted((one, other) -> Long.compare(strides[other], strides[one])).mapToInt(Integer::intValue)
                .toArray();
        long[] otherStrides = new long[dims.length];
        long dense = 1;
        long otherDense = 1;
        for (int at = dims.length - 1; at >= 0; at--) {
            int i = inwards[at];
            if (dims[i] > 1) {
                otherStrides[i] = strides[i] == dense ? otherDense : 2 * otherDense;
                dense = strides[i] * dims[i];
                otherDense = otherStrides[i] * otherDims[i];
            } else {
                otherStrides[i] = otherDense;
            }
        }
        return new TensorSpec(spec.dtype(), Shape.of(otherDims), Layout.strided(otherStrides));
    }
}
