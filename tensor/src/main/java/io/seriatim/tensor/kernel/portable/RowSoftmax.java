package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Floats;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.network.Softmax;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.portable.function.FloatExp;
import io.seriatim.tensor.kernel.portable.view.AxisView;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Softmax of a few rows. A library's kernel is prepared for some 100 µs for each length, such as that of what a
 * decoder has read so far; this one takes next to nothing, and no longer to run. All floating-point types of up to 32
 * bits are read and written as if they were cast before and after.
 */
public final class RowSoftmax extends PortableKernel {
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED
            .withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final int ROWS = 4;
    private static final int LANES = 8;

    private final AxisView x;
    private final AxisView y;

    private RowSoftmax(AxisView x, AxisView y) {
        this.x = x;
        this.y = y;
    }

    static @Nullable Kernel of(Softmax softmax, @Nullable TensorSpec[] arguments) {
        TensorSpec from = Objects.requireNonNull(arguments[0]);
        TensorSpec to = Objects.requireNonNull(arguments[1]);
        if (softmax.log() || to.dtype().arithmetic() != DType.FLOAT32 || to.dtype().isComplex()
                || from.shape().size() > Softmax.FEW || from.shape().size() == 0) {
            return null;
        }
        AxisView x = AxisView.of(from, softmax.axis());
        return x.length() > KernelContext.TILE ? null : new RowSoftmax(x, AxisView.of(to, softmax.axis()));
    }

    @Override
    void compute(@Nullable Tensor[] arguments, KernelContext context) {
        Tensor from = Objects.requireNonNull(arguments[0]);
        Tensor to = Objects.requireNonNull(arguments[1]);
        float[] tile = context.floats(2);
        int length = x.length();
        int most = KernelContext.TILE / length;
        for (long first = 0; first < x.count(); first += most) {
            int count = (int) Math.min(most, x.count() - first);
            for (int row = 0; row < count; row++) {
                Floats.load(from.memory(), from.dtype(), x.at(from, first + row), x.stride(), tile, row * length,
                        length);
                shift(tile, row * length, length);
            }
            exponentials(tile, count * length, context);
            for (int row = 0; row < count; row++) {
                divide(tile, row * length, length);
                Floats.store(to.memory(), to.dtype(), y.at(to, first + row), y.stride(), tile, row * length,
                        length);
            }
        }
    }

    /**
     * Replaces rows by their softmax.
     *
     * @param rows
     *            row after row
     * @param count
     *            the number of rows
     * @param length
     *            that of each, from 1
     * @param context
     *            that of the calling thread
     */
    public static void run(float[] rows, int count, int length, KernelContext context) {
        for (int row = 0; row < count; row++) {
            shift(rows, row * length, length);
        }
        exponentials(rows, count * length, context);
        for (int row = 0; row < count; row++) {
            divide(rows, row * length, length);
        }
    }

    private static void exponentials(float[] rows, int size, KernelContext context) {
        // Rounded up, since the length may grow by one from call to call.
        int room = Math.max(KernelContext.TILE, Integer.highestOneBit(size) << 1);
        MemorySegment memory = context.scratch((long) room * Float.BYTES).segment();
        MemorySegment.copy(rows, 0, memory, FLOAT, 0, size);
        FloatExp.run(memory, 0, memory, 0, size, context);
        MemorySegment.copy(memory, FLOAT, 0, rows, 0, size);
    }

    @Override
    public String provider() {
        return JavaKernels.PROVIDER;
    }

    /** Subtracts the largest number. Where one is NaN, or the largest is infinite, there is NaN in the result. */
    private static void shift(float[] row, int from, int length) {
        float a = Float.NEGATIVE_INFINITY;
        float b = a;
        float c = a;
        float d = a;
        int i = from;
        for (; i + ROWS <= from + length; i += ROWS) {
            a = row[i] > a ? row[i] : a;
            b = row[i + 1] > b ? row[i + 1] : b;
            c = row[i + 2] > c ? row[i + 2] : c;
            d = row[i + 3] > d ? row[i + 3] : d;
        }
        for (; i < from + length; i++) {
            a = row[i] > a ? row[i] : a;
        }
        float most = Math.max(Math.max(a, b), Math.max(c, d));
        for (int j = from; j < from + length; j++) {
            row[j] -= most;
        }
    }

    /** Divides by the sum, in several parts, since each addition waits for the one before. */
    private static void divide(float[] row, int from, int length) {
        int i = from;
        float a = 0;
        float b = 0;
        float c = 0;
        float d = 0;
        float e = 0;
        float f = 0;
        float g = 0;
        float h = 0;
        for (; i + LANES <= from + length; i += LANES) {
            a += row[i];
            b += row[i + 1];
            c += row[i + 2];
            d += row[i + 3];
            e += row[i + 4];
            f += row[i + 5];
            g += row[i + 6];
            h += row[i + 7];
        }
        for (; i < from + length; i++) {
            a += row[i];
        }
        float sum = ((a + b) + (c + d)) + ((e + f) + (g + h));
        if (Float.isNaN(sum)) {
            Arrays.fill(row, from, from + length, Float.NaN);
            return;
        }
        for (int j = from; j < from + length; j++) {
            row[j] /= sum;
        }
    }
}
