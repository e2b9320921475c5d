package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.portable.function.FloatExp;
import io.seriatim.tensor.kernel.portable.function.FloatLoops;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The natural logarithm of dense float32, within one unit in the last place. The library's error is 4e-6, near 1 more
 * than a thousandth of the result, and it is not faster. A number is split into 2ᵉ and a factor from √½ to √2, whose
 * logarithm is a polynomial: S. L. Moshier, Cephes Mathematical Library, {@code logf}, of which these are the
 * coefficients. The JIT vectorises the loops. It does not vectorise {@link Float#intBitsToFloat}, so the factors are
 * converted from integers to floats through the output's memory, which is written afterwards anyway. Other arguments
 * than positive normal numbers are computed again in double.
 */
final class FloatLog extends PortableKernel {
    private static final ValueLayout.OfInt BITS = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED
            .withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final int LEAST_NORMAL = 0x00800000;
    private static final int LARGEST = 0x7f7fffff;
    private static final int ROOT_OF_HALF = 0x3f3504f3;
    private static final int MANTISSA_BITS = 23;

    private final long size;

    private FloatLog(long size) {
        this.size = size;
    }

    /** Null for other functions, types and layouts. */
    static @Nullable Kernel of(Unary unary, @Nullable TensorSpec[] arguments) {
        TensorSpec x = Objects.requireNonNull(arguments[0]);
        TensorSpec y = Objects.requireNonNull(arguments[1]);
        boolean fits = unary.function() == Unary.Function.LOG && x.dtype() == DType.FLOAT32
                && y.dtype() == DType.FLOAT32
                && Operands.areDenseAlike(x, y);
        return fits ? new FloatLog(x.shape().size()) : null;
    }

    @Override
    public String provider() {
        return JavaKernels.PROVIDER;
    }

    @Override
    void compute(@Nullable Tensor[] arguments, KernelContext context) {
        Tensor x = Objects.requireNonNull(arguments[0]);
        Tensor y = Objects.requireNonNull(arguments[1]);
        MemorySegment from = x.memory();
        MemorySegment to = y.memory();
        int[] bits = context.ints(0);
        int[] exponents = context.ints(1);
        int[] factors = context.ints(2);
        float[] values = context.floats(0);
        float[] results = context.floats(1);
        for (long first = 0; first < size; first += KernelContext.TILE) {
            int count = (int) Math.min(KernelContext.TILE, size - first);
            int computed = Math.max(count, FloatLoops.LEAST);
            long at = y.offset() + first * Float.BYTES;
            MemorySegment.copy(from, BITS, x.offset() + first * Float.BYTES, bits, 0, count);
            split(bits, exponents, factors, computed);
            MemorySegment.copy(factors, 0, to, BITS, at, count);
            MemorySegment.copy(to, FLOAT, at, values, 0, count);
            logarithms(exponents, values, results, computed);
            if (hasOthers(bits, count)) {
                others(bits, results, count);
            }
            MemorySegment.copy(results, 0, to, FLOAT, at, count);
        }
    }

    private static void split(int[] bits, int[] exponents, int[] factors, int count) {
        for (int i = 0; i < count; i++) {
            int exponent = (bits[i] - ROOT_OF_HALF) >> MANTISSA_BITS;
            exponents[i] = exponent;
            factors[i] = bits[i] - (exponent << MANTISSA_BITS);
        }
    }

    private static void logarithms(int[] exponents, float[] factors, float[] results, int count) {
        for (int i = 0; i < count; i++) {
            float exponent = exponents[i];
            float t = factors[i] - 1;
            float square = t * t;
            float p = (float) 7.0376836292e-2 * t - (float) 1.1514610310e-1;
            p = p * t + (float) 1.1676998740e-1;
            p = p * t - (float) 1.2420140846e-1;
            p = p * t + (float) 1.4249322787e-1;
            p = p * t - (float) 1.6668057665e-1;
            p = p * t + (float) 2.0000714765e-1;
            p = p * t - (float) 2.4999993993e-1;
            p = p * t + (float) 3.3333331174e-1;
            float small = t * square * p + exponent * FloatExp.LN2_LOW - 0.5f * square;
            results[i] = t + small + exponent * FloatExp.LN2_HIGH;
        }
    }

    /** Whether not all numbers are positive normal numbers: then one of the differences is negative. */
    private static boolean hasOthers(int[] bits, int count) {
        int signs = 0;
        for (int i = 0; i < count; i++) {
            signs |= (bits[i] - LEAST_NORMAL) | (LARGEST - bits[i]);
        }
        return signs < 0;
    }

    private static void others(int[] bits, float[] results, int count) {
        for (int i = 0; i < count; i++) {
            if (bits[i] < LEAST_NORMAL || bits[i] > LARGEST) {
                results[i] = (float) Math.log(Float.intBitsToFloat(bits[i]));
            }
        }
    }
}
