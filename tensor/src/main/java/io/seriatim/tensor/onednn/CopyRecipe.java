package io.seriatim.tensor.onednn;

import io.seriatim.device.Place;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.internal.ffi.Dnnl;
import io.seriatim.tensor.internal.ffi.DnnlConstants;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.Kernels;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Reorders: to and from the library's layouts, between floating-point types, and transposes. Plain Java copies where
 * type and layout stay the same.
 */
final class CopyRecipe {
    private CopyRecipe() {
    }

    static @Nullable Kernel kernel(Dnnl dnnl, Copy copy, @Nullable TensorSpec[] arguments) {
        TensorSpec from = Objects.requireNonNull(arguments[0]);
        TensorSpec to = Objects.requireNonNull(arguments[1]);
        if (to.layout() instanceof Layout.Opaque layout && layout.library().equals(OneDnnKernels.MATRIX)) {
            return Im2colProducts.packing(dnnl, from, to);
        }
        if (GemmProducts.areRows(to)) {
            return GemmProducts.packing(dnnl, from, to);
        }
        boolean opaque = from.layout() instanceof Layout.Opaque || to.layout() instanceof Layout.Opaque;
        boolean changes = opaque || from.dtype() != to.dtype() || !from.isRowMajor() || !to.isRowMajor();
        boolean floating = from.dtype().isFloating() && to.dtype().isFloating();
        // The library's reference reorders lose the sign of a zero and are 80 times slower than plain Java.
        boolean reference = !opaque && (isReference(dnnl, from.dtype()) || isReference(dnnl, to.dtype()));
        if (reference || !changes || !floating || SequenceBuilder.type(to.dtype()) == 0
                || !from.shape().equals(to.shape())
                || from.shape().size() == 0
                || !isReadable(from) || !isReadable(to) || (!opaque && JavaThresholds.isSmallCopy(from, to))) {
            return null;
        }
        return reorder(dnnl, from, to);
    }

    /** Packs weights of 8-bit integers into a layout of the library; null for other copies. */
    static @Nullable Kernel packing(Dnnl dnnl, @Nullable TensorSpec[] arguments) {
        TensorSpec from = Objects.requireNonNull(arguments[0]);
        TensorSpec to = Objects.requireNonNull(arguments[1]);
        boolean packs = to.layout() instanceof Layout.Opaque && from.dtype() == to.dtype()
                && from.shape().equals(to.shape()) && from.shape().size() > 0 && isReadable(from) && isReadable(to);
        return packs ? reorder(dnnl, from, to) : null;
    }

    /** Copies a matrix into dense memory. */
    static Kernel dense(Dnnl dnnl, TensorSpec from, TensorSpec to) {
        Kernel kernel = isReadable(from) ? reorder(dnnl, from, to) : null;
        return kernel == null ? Kernels.portable().prepare(Copy.PLAIN, Place.CPU, from, to) : kernel;
    }

    private static @Nullable Kernel reorder(Dnnl dnnl, TensorSpec from, TensorSpec to) {
        return DnnlKernel.of(dnnl,
                builder -> builder.tryCopy(new Operand(DnnlConstants.SRC, 0, builder.describe(from)),
                        new Operand(DnnlConstants.DST, 1, builder.describe(to))));
    }

    /** Whether the library has only its reference reorder for a 16-bit type on this processor. */
    private static boolean isReference(Dnnl dnnl, DType dtype) {
        return switch (dtype) {
            case BFLOAT16 -> !OneDnn.hasAvx512(dnnl);
            case FLOAT16 -> !OneDnn.hasFloat16(dnnl);
            default -> false;
        };
    }

    private static boolean isReadable(TensorSpec spec) {
        if (spec.layout() instanceof Layout.Opaque opaque) {
            return opaque.library().equals(OneDnnKernels.PROVIDER)
                    || opaque.library().equals(OneDnnKernels.TRANSPOSED);
        }
        return Specs.areForward(spec) && spec.shape().rank() <= 12;
    }
}
