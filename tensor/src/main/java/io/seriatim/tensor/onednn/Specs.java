package io.seriatim.tensor.onednn;

import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.IntStream;

/** Checks and changes of layouts for the library. */
final class Specs {
    private Specs() {
    }

    /** Whether no tensor has a negative or zero stride: plain Java computes with such views. */
    static boolean areForward(TensorSpec... specs) {
        return Arrays.stream(specs).allMatch(Specs::isForward);
    }

    /** Replaces dimensions with a stride of 0 by dimensions of length 1, which the library broadcasts. */
    static TensorSpec collapsed(TensorSpec spec) {
        if (!(spec.layout() instanceof Layout.Strided strided)) {
            return spec;
        }
        long[] strides = strided.strides();
        long[] dims = spec.shape().dims();
        for (int i = 0; i < dims.length; i++) {
            dims[i] = strides[i] == 0 ? Math.min(1, dims[i]) : dims[i];
        }
        return new TensorSpec(spec.dtype(), Shape.of(dims), Layout.strided(strides));
    }

    /**
     * Whether elements share memory in a way that the library's descriptors do not allow: with steps in ascending
     * order, each must reach beyond all elements of the dimensions before it. A step of 0 repeats and is allowed; a
     * dimension of one element has no step.
     */
    static boolean overlaps(long[] dims, long[] strides) {
        if (Arrays.stream(dims).anyMatch(dim -> dim == 0)) {
            return false;
        }
        int[] order = IntStream.range(0, dims.length).filter(i -> dims[i] > 1 && strides[i] != 0).boxed()
                .sorted(Comparator.<Integer>comparingLong(i -> strides[i]).thenComparingLong(i -> dims[i]))
                .mapToInt(Integer::intValue).toArray();
        long reach = 1;
        for (int i : order) {
            if (strides[i] < reach) {
                return true;
            }
            reach = strides[i] * dims[i];
        }
        return false;
    }

    private static boolean isForward(TensorSpec spec) {
        if (spec.isRowMajor()) {
            return true;
        }
        if (spec.layout() instanceof Layout.Opaque) {
            return false;
        }
        long[] strides = spec.strides();
        for (int i = 0; i < strides.length; i++) {
            if (spec.shape().dim(i) > 1 && strides[i] <= 0) {
                return false;
            }
        }
        return true;
    }
}
