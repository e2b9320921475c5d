package io.seriatim.tensor.onednn;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.internal.ffi.Dnnl;
import io.seriatim.tensor.internal.ffi.DnnlConstants;
import io.seriatim.tensor.kernel.Kernel;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Reorders: to and from the library's own layouts, between floating-point types, and transposes. A copy that changes
 * nothing is left to plain Java.
 */
final class CopyRecipe {
    private CopyRecipe() {
    }

    static @Nullable Kernel kernel(Dnnl dnnl, Copy copy, @Nullable TensorSpec[] arguments) {
        TensorSpec from = Objects.requireNonNull(arguments[0]);
        TensorSpec to = Objects.requireNonNull(arguments[1]);
        if (to.layout() instanceof Layout.Opaque layout && layout.library().equals(OneDnnKernels.MATRIX)) {
            return PixelProducts.packing(dnnl, from, to);
        }
        boolean opaque = from.layout() instanceof Layout.Opaque || to.layout() instanceof Layout.Opaque;
        boolean changes = opaque || from.dtype() != to.dtype() || !from.isRowMajor() || !to.isRowMajor();
        boolean floating = from.dtype().isFloating() && to.dtype().isFloating();
        // Without AVX-512 the library reads and writes −0 of 16 bits, and what rounds to it, as 0.
        boolean losesSigns = (from.dtype() != DType.FLOAT32 || to.dtype() != DType.FLOAT32) && !opaque
                && !OneDnn.hasAvx512(dnnl);
        if (losesSigns || !changes || !floating || SequenceBuilder.type(to.dtype()) == 0
                || !from.shape().equals(to.shape())
                || from.shape().size() == 0
                || !isReadable(from) || !isReadable(to) || (!opaque && Crossover.isSmallCopy(from, to))) {
            return null;
        }
        return DnnlKernel.of(dnnl, builder -> {
            long source = builder.describe(from);
            long target = builder.describe(to);
            if (source == 0 || target == 0) {
                return false;
            }
            builder.copy(new Operand(DnnlConstants.SRC, 0, source), new Operand(DnnlConstants.DST, 1, target));
            return true;
        });
    }

    private static boolean isReadable(TensorSpec spec) {
        if (spec.layout() instanceof Layout.Opaque opaque) {
            return opaque.library().equals(OneDnnKernels.PROVIDER);
        }
        return Specs.areForward(spec) && spec.shape().rank() <= 12;
    }
}
