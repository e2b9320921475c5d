package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.UnaryGrad;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.portable.function.FloatLoops;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The gradient of the maximum with 0, of bfloat16: two neighbours at a time as one integer, in lanes of 16 bits without
 * carries between them. The JIT does not vectorise loops over 16 bits, and conversion takes longer than the
 * computation. As in {@link FloatLoops#reluGrad}, 0 takes the sign of dy, and 0 times an infinite dy is NaN.
 */
final class HalfReluGrad extends PortableKernel {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED
            .withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final int SIGNS = 0x80008000;
    private static final int EXPONENTS = 0x7f807f80;
    /** Added to an exponent, it overflows for infinities and NaN. */
    private static final int LAST_EXPONENT = 0x00800080;
    /** Added to a magnitude, it overflows for those that are not 0, and for those beyond infinity. */
    private static final int NOT_ZERO = 0x7fff7fff;
    private static final int BEYOND_INFINITY = 0x007f007f;

    private final int input;
    private final long size;

    private HalfReluGrad(int input, long size) {
        this.input = input;
        this.size = size;
    }

    static @Nullable Kernel of(UnaryGrad grad, @Nullable TensorSpec[] arguments) {
        int input = arguments[0] == null ? 1 : 0;
        TensorSpec from = arguments[input];
        TensorSpec dy = Objects.requireNonNull(arguments[2]);
        TensorSpec dx = Objects.requireNonNull(arguments[3]);
        boolean fits = grad.function() == Unary.Function.RELU && from != null && dy.dtype() == DType.BFLOAT16
                && from.isRowMajor()
                && dy.isRowMajor() && dx.isRowMajor();
        return fits ? new HalfReluGrad(input, dy.shape().size()) : null;
    }

    @Override
    void compute(@Nullable Tensor[] arguments, KernelContext context) {
        Tensor from = Objects.requireNonNull(arguments[input]);
        Tensor dy = Objects.requireNonNull(arguments[2]);
        Tensor dx = Objects.requireNonNull(arguments[3]);
        int[] values = context.ints(0);
        int[] gradients = context.ints(1);
        long pairs = size / 2;
        for (long first = 0; first < pairs; first += KernelContext.TILE) {
            int count = (int) Math.min(KernelContext.TILE, pairs - first);
            long at = first * Integer.BYTES;
            MemorySegment.copy(from.memory(), INT, from.offset() + at, values, 0, count);
            MemorySegment.copy(dy.memory(), INT, dy.offset() + at, gradients, 0, count);
            gradients(values, gradients, count);
            MemorySegment.copy(gradients, 0, dx.memory(), INT, dx.offset() + at, count);
        }
        if (size % 2 == 1) {
            long at = pairs * Integer.BYTES;
            values[0] = from.memory().get(SHORT, from.offset() + at);
            gradients[0] = dy.memory().get(SHORT, dy.offset() + at);
            gradients(values, gradients, 1);
            dx.memory().set(SHORT, dx.offset() + at, (short) gradients[0]);
        }
    }

    private static void gradients(int[] values, int[] gradients, int count) {
        for (int i = 0; i < count; i++) {
            int value = values[i];
            int gradient = gradients[i];
            int magnitude = value & ~SIGNS;
            int positive = (magnitude + NOT_ZERO) & ~(magnitude + BEYOND_INFINITY) & ~value & SIGNS;
            int passes = positive | (positive - (positive >>> 15));
            int endless = ((gradient & EXPONENTS) + LAST_EXPONENT) & SIGNS;
            // All bits of the exponent and the one after them: NaN.
            int zero = (gradient & SIGNS) | (endless - (endless >>> 9));
            gradients[i] = (gradient & passes) | (zero & ~passes);
        }
    }
}
