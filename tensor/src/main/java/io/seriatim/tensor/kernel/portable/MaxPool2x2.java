package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Halves;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.network.Pooling;
import io.seriatim.tensor.computation.network.PoolingGrad;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The maximum of windows of 2 × 2 float32 or bfloat16 that lie side by side, the pooling of most convolutional
 * networks, and its gradient.
 *
 * <p>
 * Two neighbours are read as one long and compared as integers in the order of floats: loops of this kind become vector
 * instructions, loops over every other float do not. Rows are too short for them; so all loops go over a tile of many
 * rows, each row is compared with the one after it, and of the comparisons every other row's are used. The rows after
 * are copied to an array of their own, since the JIT must see that all arrays of a loop have one index. Two neighbours
 * of bfloat16 are one int, and the upper halves of floats.
 */
final class MaxPool2x2 extends PortableKernel {
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final int MAGNITUDE = 0x7fffffff;
    private static final int BEYOND_INFINITY = Integer.MIN_VALUE - 0x7f800000;
    private static final long LOW = 0xffffffffL;
    private static final int UPPER = 0xffff0000;

    /** The tile for the float32 halves of longs. */
    private static final int PAIRS = 5;

    private final boolean gradient;
    private final DType dtype;
    /** Windows in a row of them. */
    private final int row;
    /** Rows of windows in all images and channels, and in a tile. */
    private final long rows;
    private final int rowsOfTile;

    private MaxPool2x2(boolean gradient, TensorSpec result) {
        this.gradient = gradient;
        dtype = result.dtype();
        row = Math.toIntExact(result.shape().dim(3));
        rows = result.shape().size() / row;
        // One more row than is used is written.
        rowsOfTile = (KernelContext.TILE / row - 1) / 2;
    }

    static @Nullable Kernel forward(Pooling pooling, @Nullable TensorSpec[] arguments) {
        TensorSpec y = Objects.requireNonNull(arguments[1]);
        return fits(pooling, Objects.requireNonNull(arguments[0]), y) ? new MaxPool2x2(false, y) : null;
    }

    static @Nullable Kernel grad(PoolingGrad grad, @Nullable TensorSpec[] arguments) {
        TensorSpec x = Objects.requireNonNull(arguments[0]);
        TensorSpec dy = Objects.requireNonNull(arguments[2]);
        return fits(grad.forward(), x, dy) && fits(grad.forward(), Objects.requireNonNull(arguments[3]), dy)
                ? new MaxPool2x2(true, dy)
                : null;
    }

    private static boolean fits(Computation computation, TensorSpec wide, TensorSpec narrow) {
        if (!(computation instanceof Pooling pooling) || pooling.kind() != Pooling.Kind.MAX
                || !pooling.kernel().equals(List.of(2L, 2L))
                || (wide.dtype() != DType.FLOAT32 && wide.dtype() != DType.BFLOAT16) || !wide.isRowMajor()
                || !narrow.isRowMajor()
                || narrow.shape().size() == 0) {
            return false;
        }
        for (int i = 0; i < 2; i++) {
            if (pooling.window().stride(i) != 2 || pooling.window().padBegin(i) != 0 || pooling.window().padEnd(i) != 0
                    || wide.shape().dim(2 + i) != 2 * narrow.shape().dim(2 + i)) {
                return false;
            }
        }
        return narrow.shape().dim(3) * 3 <= KernelContext.TILE;
    }

    @Override
    void compute(@Nullable Tensor[] arguments, KernelContext context) {
        Tensor x = Objects.requireNonNull(arguments[0]);
        Tensor narrow = Objects.requireNonNull(arguments[gradient ? 2 : 1]);
        for (long first = 0; first < rows; first += rowsOfTile) {
            int count = (int) Math.min(rowsOfTile, rows - first);
            long wideAt = first * row * 4 * dtype.bytes();
            long narrowAt = narrow.offset() + first * row * dtype.bytes();
            load(x, x.offset() + wideAt, 2 * count * row, context);
            if (gradient) {
                Tensor dx = Objects.requireNonNull(arguments[3]);
                gradients(narrow, narrowAt, count, context);
                store(dx, dx.offset() + wideAt, 2 * count * row, context);
            } else {
                maxima(narrow, narrowAt, count, context);
            }
        }
    }

    private void load(Tensor from, long at, int count, KernelContext context) {
        if (dtype == DType.FLOAT32) {
            MemorySegment.copy(from.memory(), LONG, at, context.longs(0), 0, count);
        } else {
            MemorySegment.copy(from.memory(), INT, at, context.ints(PAIRS), 0, count);
        }
    }

    private void store(Tensor to, long at, int count, KernelContext context) {
        if (dtype == DType.FLOAT32) {
            MemorySegment.copy(context.longs(0), 0, to.memory(), LONG, at, count);
        } else {
            MemorySegment.copy(context.ints(PAIRS), 0, to.memory(), INT, at, count);
        }
    }

    private void maxima(Tensor y, long at, int count, KernelContext context) {
        int[] largest = context.ints(0);
        int[] next = context.ints(1);
        int[] windows = context.ints(2);
        int size = 2 * count * row;
        if (dtype == DType.FLOAT32) {
            largestOfPairs(context.longs(0), largest, size);
        } else {
            largestOfPairs(context.ints(PAIRS), largest, size);
        }
        System.arraycopy(largest, row, next, 0, size);
        largestOfRows(largest, next, windows, size);
        for (int i = 1; i < count; i++) {
            System.arraycopy(windows, 2 * i * row, windows, i * row, row);
        }
        if (dtype == DType.FLOAT32) {
            MemorySegment.copy(windows, 0, y.memory(), INT, at, count * row);
        } else {
            Halves.storeBits(y.memory(), at, windows, count * row);
        }
    }

    private void gradients(Tensor dy, long at, int count, KernelContext context) {
        int[] largest = context.ints(0);
        int[] second = context.ints(1);
        int[] gradients = context.ints(2);
        int[] below = context.ints(3);
        int[] next = context.ints(4);
        if (dtype == DType.FLOAT32) {
            MemorySegment.copy(dy.memory(), INT, at, gradients, 0, count * row);
        } else {
            Halves.loadBits(dy.memory(), at, gradients, count * row);
        }
        for (int i = count - 1; i >= 0; i--) {
            System.arraycopy(gradients, i * row, gradients, 2 * i * row, row);
            Arrays.fill(gradients, (2 * i + 1) * row, (2 * i + 2) * row, 0);
        }
        int size = 2 * count * row;
        if (dtype == DType.FLOAT32) {
            whichOfPairs(context.longs(0), largest, second, size);
        } else {
            whichOfPairs(context.ints(PAIRS), largest, second, size);
        }
        System.arraycopy(largest, row, next, 0, size);
        whichOfRows(largest, next, gradients, below, size);
        System.arraycopy(below, 0, next, row, size);
        Arrays.fill(next, 0, row, 0);
        if (dtype == DType.FLOAT32) {
            spread(context.longs(0), second, gradients, next, size);
        } else {
            spread(context.ints(PAIRS), second, gradients, next, size);
        }
    }

    /**
     * An integer in the order of floats: the two zeros are alike, and from −∞ down it wraps around, so that NaN is
     * above all, whatever its sign.
     */
    private static int ordered(int bits) {
        int sign = bits >> 31;
        return ((bits & MAGNITUDE) ^ sign) - sign - BEYOND_INFINITY;
    }

    private static int bits(int ordered) {
        int number = ordered + BEYOND_INFINITY;
        int sign = number >> 31;
        return ((number ^ sign) - sign) | (sign & ~MAGNITUDE);
    }

    private static void largestOfPairs(long[] pairs, int[] largest, int count) {
        for (int i = 0; i < count; i++) {
            long pair = pairs[i];
            largest[i] = Math.max(ordered((int) pair), ordered((int) (pair >>> 32)));
        }
    }

    private static void largestOfPairs(int[] pairs, int[] largest, int count) {
        for (int i = 0; i < count; i++) {
            int pair = pairs[i];
            largest[i] = Math.max(ordered(pair << 16), ordered(pair & UPPER));
        }
    }

    private static void largestOfRows(int[] largest, int[] next, int[] windows, int count) {
        for (int i = 0; i < count; i++) {
            windows[i] = bits(Math.max(largest[i], next[i]));
        }
    }

    private static void whichOfPairs(long[] pairs, int[] largest, int[] second, int count) {
        for (int i = 0; i < count; i++) {
            long pair = pairs[i];
            int left = ordered((int) pair);
            int most = Math.max(left, ordered((int) (pair >>> 32)));
            int differs = most ^ left;
            largest[i] = most;
            second[i] = (differs | -differs) >> 31;
        }
    }

    private static void whichOfPairs(int[] pairs, int[] largest, int[] second, int count) {
        for (int i = 0; i < count; i++) {
            int pair = pairs[i];
            int left = ordered(pair << 16);
            int most = Math.max(left, ordered(pair & UPPER));
            int differs = most ^ left;
            largest[i] = most;
            second[i] = (differs | -differs) >> 31;
        }
    }

    private static void whichOfRows(int[] largest, int[] next, int[] gradients, int[] below, int count) {
        for (int i = 0; i < count; i++) {
            int differs = Math.max(largest[i], next[i]) ^ largest[i];
            int isBelow = (differs | -differs) >> 31;
            int gradient = gradients[i];
            below[i] = gradient & isBelow;
            gradients[i] = gradient & ~isBelow;
        }
    }

    private static void spread(long[] pairs, int[] second, int[] gradients, int[] below, int count) {
        for (int i = 0; i < count; i++) {
            int gradient = gradients[i] | below[i];
            int right = gradient & second[i];
            pairs[i] = (gradient & ~second[i] & LOW) | ((long) right << 32);
        }
    }

    private static void spread(int[] pairs, int[] second, int[] gradients, int[] below, int count) {
        for (int i = 0; i < count; i++) {
            int gradient = gradients[i] | below[i];
            pairs[i] = ((gradient & ~second[i]) >>> 16) | (gradient & second[i]);
        }
    }
}
