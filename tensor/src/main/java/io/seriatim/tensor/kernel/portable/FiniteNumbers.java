package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Doubles;
import io.seriatim.tensor.LoopNest;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.AllFinite;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * Finds infinities and NaN, whose exponents have all bits set. Memory is read 64 bits at a time, which hold several
 * numbers. Adding one to the exponent alone carries into the sign bit only if all its bits are set; the carries are
 * combined, and checked after each tile. The JIT vectorises that.
 */
final class FiniteNumbers {
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /**
     * The bit masks of a type.
     *
     * @param exponents
     *            the bits of the exponents
     * @param ones
     *            the lowest bit of each exponent
     * @param signs
     *            the bit above each exponent
     */
    private record Bits(long exponents, long ones, long signs) {
        static final Bits HALF = new Bits(0x7c007c007c007c00L, 0x0400040004000400L, 0x8000800080008000L);
        static final Bits BRAIN = new Bits(0x7f807f807f807f80L, 0x0080008000800080L, 0x8000800080008000L);
        static final Bits SINGLE = new Bits(0x7f8000007f800000L, 0x0080000000800000L, 0x8000000080000000L);
        static final Bits DOUBLE = new Bits(0x7ff0000000000000L, 0x0010000000000000L, 0x8000000000000000L);

        static Bits of(DType dtype) {
            return switch (dtype) {
                case FLOAT16 -> HALF;
                case BFLOAT16 -> BRAIN;
                case FLOAT32 -> SINGLE;
                case FLOAT64 -> DOUBLE;
                default -> throw new IllegalArgumentException(dtype + " has no exponents");
            };
        }
    }

    private FiniteNumbers() {
    }

    static Kernel kernel(AllFinite computation, @Nullable TensorSpec[] arguments) {
        int inputs = arguments.length - 1;
        return PortableKernel.of((all, context) -> {
            boolean finite = true;
            for (int i = 0; i < inputs && finite; i++) {
                finite = isFinite(all.get(i), context);
            }
            Tensor out = all.get(inputs);
            out.memory().set(ValueLayout.JAVA_BYTE, out.offset(), (byte) (finite ? 1 : 0));
        });
    }

    private static boolean isFinite(Tensor tensor, KernelContext context) {
        if (tensor.dtype().isComplex()) {
            return isFinite(tensor.asReal(), context);
        }
        return !tensor.dtype().isFloating()
                || (tensor.spec().isRowMajor() ? isDenseFinite(tensor, context) : isStridedFinite(tensor, context));
    }

    private static boolean isDenseFinite(Tensor tensor, KernelContext context) {
        Bits bits = Bits.of(tensor.dtype());
        MemorySegment memory = tensor.memory();
        long[] tile = context.longs(0);
        long end = tensor.offset() + tensor.shape().size() * tensor.dtype().bytes();
        long at = tensor.offset();
        while (at + Long.BYTES <= end) {
            int count = (int) Math.min(KernelContext.TILE, (end - at) / Long.BYTES);
            MemorySegment.copy(memory, LONG, at, tile, 0, count);
            if (!isFinite(tile, count, bits)) {
                return false;
            }
            at += (long) count * Long.BYTES;
        }
        // Fewer than 64 bits remain.
        tile[0] = 0;
        for (int shift = 0; at < end; at++, shift += Byte.SIZE) {
            tile[0] |= (memory.get(ValueLayout.JAVA_BYTE, at) & 0xffL) << shift;
        }
        return isFinite(tile, 1, bits);
    }

    private static boolean isFinite(long[] tile, int count, Bits bits) {
        long exponents = bits.exponents();
        long ones = bits.ones();
        long carried = 0;
        for (int i = 0; i < count; i++) {
            carried |= (tile[i] & exponents) + ones;
        }
        return (carried & bits.signs()) == 0;
    }

    private static boolean isStridedFinite(Tensor tensor, KernelContext context) {
        LoopNest nest = LoopNest.of(tensor.shape(), tensor.spec().strides());
        double[] tile = context.doubles(0);
        for (long row = 0; row < nest.rows(); row++) {
            for (long column = 0; column < nest.rowLength(); column += KernelContext.TILE) {
                int count = (int) Math.min(KernelContext.TILE, nest.rowLength() - column);
                long at = tensor.offset() + (nest.offset(0, row) + column * nest.rowStride(0)) * tensor.dtype().bytes();
                Doubles.load(tensor.memory(), tensor.dtype(), at, nest.rowStride(0), tile, 0, count);
                for (int i = 0; i < count; i++) {
                    if (!Double.isFinite(tile[i])) {
                        return false;
                    }
                }
            }
        }
        return true;
    }
}
