package io.seriatim.tensor.onednn;

import io.seriatim.tensor.internal.ffi.Dnnl;
import io.seriatim.tensor.internal.ffi.PrimitiveDescriptor;
import org.jspecify.annotations.Nullable;

/**
 * The library's second implementation of matrix products on processors with AVX-512. It packs panels of both operands;
 * the first one, which the library prefers, reads operands in their own layout. The second takes 7 to 20 % less time if
 * x is transposed, and a third of the time if a row of 784 is multiplied by a matrix with rows of 512.
 */
final class GemmImplementation {
    private static final String FIRST = "brg_matmul:avx512";
    private static final String SECOND = "gemm:jit";

    private GemmImplementation() {
    }

    /**
     * Changes a primitive descriptor to it.
     *
     * @param own
     *            describes the same product as the chosen descriptor, and is changed
     * @param chosen
     *            the implementation that the library prefers
     * @return own, or null if there is no such implementation or the library does not prefer the first
     */
    static @Nullable PrimitiveDescriptor tryFind(SequenceBuilder builder, @Nullable PrimitiveDescriptor own,
            PrimitiveDescriptor chosen) {
        Dnnl dnnl = builder.dnnl();
        if (own == null || !dnnl.implementation(chosen).startsWith(FIRST)) {
            return null;
        }
        while (dnnl.nextImplementation(own)) {
            if (dnnl.implementation(own).contains(SECOND)) {
                return own;
            }
        }
        return null;
    }
}
