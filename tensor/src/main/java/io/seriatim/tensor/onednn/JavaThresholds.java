package io.seriatim.tensor.onednn;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.LoopNest;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.Unary;
import java.util.List;

/**
 * The sizes up to which plain Java is faster than the library, whose primitives take 0.3 to 0.9 microseconds to start.
 * Both give the same bits, except that the library flushes denormals of bfloat16 to 0. Measured on a server processor
 * with AVX-512; the limits are rounded down to powers of two.
 */
final class JavaThresholds {
    private static final long NONE = -1;
    private static final long CAST = 128;
    private static final long TRANSPOSE = 128;
    private static final long EXTREME = 1024;
    private static final long HALF_SUM = 128;
    private static final long RELU_GRADIENT = 512;
    /** The library takes 1.1 to 10 times as long for rows up to so long. */
    private static final long SHORT_ROW = 16;
    private static final long SHORT_SUM = 256;
    private static final long SHORT_EXTREME = 128;

    private JavaThresholds() {
    }

    static boolean isSmall(Unary unary, TensorSpec x) {
        return x.dtype() == DType.FLOAT32 && unary.isExact(x.dtype()) && x.shape().size() <= limit(unary.function());
    }

    private static long limit(Unary.Function function) {
        return switch (function) {
            case RELU, CLIP, HARD_SIGMOID, SQUARE, ABS, LINEAR -> 4096;
            case SQRT -> 2048;
            case LEAKY_RELU -> 512;
            case ROUND -> 64;
            default -> NONE;
        };
    }

    /** For gradients. The kernels differ only where x is NaN: plain Java gives 0, as PaddlePaddle does. */
    static boolean isSmallGradient(Unary.Function function, TensorSpec x) {
        return function == Unary.Function.RELU && x.dtype() == DType.FLOAT32 && x.shape().size() <= RELU_GRADIENT;
    }

    /**
     * Starting a row costs plain Java as much as 256 elements, the library nothing; but the library computes short rows
     * element by element.
     */
    static boolean isSmall(Binary binary, TensorSpec x, TensorSpec y, TensorSpec out) {
        if (!binary.postOps().isEmpty()) {
            return false;
        }
        if (x.dtype() != DType.FLOAT32) {
            return out.shape().size() <= HALF_SUM;
        }
        LoopNest nest = LoopNest.of(out.shape(), Tensor.broadcastStrides(x, out.shape()),
                Tensor.broadcastStrides(y, out.shape()), out.strides());
        if (nest.rows() > 1 && nest.rowLength() <= SHORT_ROW) {
            return true;
        }
        return nest.rows() <= 16 && nest.rows() * 256 + out.shape().size() <= 4352;
    }

    /**
     * The library takes about 0.2 microseconds for each row that it reduces, also for a row of few elements.
     *
     * @param from
     *            the dimensions of x, where neighbours that are reduced together, or kept together, are one
     * @param to
     *            those of the result, 1 where it is reduced
     */
    static boolean areShortRows(Reduction.Function function, DType dtype, List<Long> from, List<Long> to) {
        long longest = switch (function) {
            case SUM, MEAN -> SHORT_SUM;
            case MAX, MIN -> SHORT_EXTREME;
            default -> NONE;
        };
        return dtype == DType.FLOAT32 && from.size() <= 2 && to.getLast() == 1 && from.getLast() <= longest;
    }

    static boolean isSmallExtreme(Reduction.Function function, TensorSpec x) {
        boolean extreme = function == Reduction.Function.MAX || function == Reduction.Function.MIN;
        return extreme && x.dtype() == DType.FLOAT32 && x.shape().size() <= EXTREME;
    }

    static boolean isSmallCopy(TensorSpec from, TensorSpec to) {
        return to.shape().size() <= (from.dtype() == to.dtype() ? TRANSPOSE : CAST);
    }
}
