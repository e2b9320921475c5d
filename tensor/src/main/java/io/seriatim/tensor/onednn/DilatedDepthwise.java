package io.seriatim.tensor.onednn;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.PostOp;
import io.seriatim.tensor.computation.network.Convolution;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Depthwise convolutions of lines with a dilation and wide padding, whose channels are innermost in memory. Where the
 * padding is wider than the pixels that its depthwise kernel computes at once, the library multiplies matrices, one for
 * each channel (oneDNN 3.11).
 *
 * <p>
 * With channels innermost, the pixels that an element of the window meets are contiguous for a tile of the result, so
 * that all loops run over pixels and channels together. The weights are repeated for each pixel of a tile.
 */
final class DilatedDepthwise implements Kernel {
    /** The library's kernel computes so many pixels at once with AVX2; with AVX-512 six. */
    private static final int LIBRARY_PIXELS = 4;
    private static final PostOp ADD = new PostOp.Combine(Binary.Function.ADD);
    private static final int SUMS = 0;
    private static final int FIRST = 1;
    private static final int PIXELS = 2;
    private static final int TOGETHER = 4;
    /** Weights of so many elements of the window are repeated once a run, others for each tile. */
    private static final int WEIGHTS = 8;
    private static final int KEPT = KernelContext.SLOTS - WEIGHTS;

    private final int padding;
    private final int dilation;
    private final int channels;
    private final int kernel;
    private final int length;
    private final int places;
    private final int rows;
    private final long xStep;
    private final long yStep;
    private final boolean biased;

    private DilatedDepthwise(Convolution convolution, TensorSpec x, TensorSpec w, TensorSpec y, boolean biased) {
        int line = convolution.window().rank() - 1;
        padding = convolution.window().padBegin(line);
        dilation = convolution.window().dilation(line);
        channels = Math.toIntExact(x.shape().dim(1));
        kernel = Math.toIntExact(w.shape().dim(-1));
        length = Math.toIntExact(x.shape().dim(-1));
        places = Math.toIntExact(y.shape().dim(-1));
        rows = KernelContext.TILE / channels;
        xStep = x.strides()[0];
        yStep = y.strides()[0];
        this.biased = biased;
    }

    /** Null for other convolutions. */
    static @Nullable Kernel of(Convolution convolution, @Nullable TensorSpec[] arguments) {
        TensorSpec x = Objects.requireNonNull(arguments[0]);
        TensorSpec w = Objects.requireNonNull(arguments[1]);
        TensorSpec y = Objects.requireNonNull(arguments[arguments.length - 1]);
        if (convolution.bias() || !isDepthwise(convolution, w) || !isDilated(convolution) || !isLine(x) || !isLine(y)
                || w.dtype() != DType.FLOAT32 || !w.isRowMajor() || x.shape().dim(1) > KernelContext.TILE) {
            return null;
        }
        List<PostOp> postOps = convolution.postOps();
        boolean biased = postOps.equals(List.of(ADD)) && isBias(Objects.requireNonNull(arguments[2]), x.shape().dim(1));
        return postOps.isEmpty() || biased
                ? new DilatedDepthwise(convolution, x, w, y, biased)
                : UnfusedPostOps.of(postOps,
                        new Convolution(convolution.window(), convolution.groups(), false, List.of()), arguments,
                        DilatedDepthwise::of);
    }

    private static boolean isDepthwise(Convolution convolution, TensorSpec w) {
        return !(w.layout() instanceof Layout.Opaque) && convolution.groups() > 1
                && w.shape().dim(0) == convolution.groups() && w.shape().dim(1) == 1
                && w.shape().dim(0) * w.shape().dim(-1) == w.shape().size();
    }

    private static boolean isDilated(Convolution convolution) {
        int line = convolution.window().rank() - 1;
        for (int i = 0; i < line; i++) {
            if (convolution.window().padBegin(i) != 0 || convolution.window().padEnd(i) != 0) {
                return false;
            }
        }
        return convolution.window().stride(line) == 1 && convolution.window().dilation(line) > 1
                && Math.max(convolution.window().padBegin(line), convolution.window().padEnd(line)) > LIBRARY_PIXELS;
    }

    /** Whether images of one row have their channels innermost in memory. */
    private static boolean isLine(TensorSpec images) {
        if (images.dtype() != DType.FLOAT32 || images.layout() instanceof Layout.Opaque
                || images.shape().rank() < 1 + PIXELS) {
            return false;
        }
        long[] strides = images.strides();
        long pixels = images.shape().dim(-1);
        return pixels == images.shape().slice(PIXELS, images.shape().rank()).size() && strides[1] == 1
                && (pixels == 1 || strides[strides.length - 1] == images.shape().dim(1));
    }

    private static boolean isBias(TensorSpec spec, long channels) {
        return spec.dtype() == DType.FLOAT32 && spec.isRowMajor() && spec.shape().size() == channels
                && Arrays.stream(spec.shape().dims()).filter(dim -> dim == channels).count() == 1
                && spec.shape().rank() > PIXELS - 1
                && spec.shape().slice(spec.shape().rank() - 1, spec.shape().rank()).size() == 1;
    }

    @Override
    public String provider() {
        return OneDnnKernels.PROVIDER;
    }

    @Override
    public void run(@Nullable Tensor[] arguments, KernelContext context) {
        Tensor x = Objects.requireNonNull(arguments[0]);
        Tensor y = Objects.requireNonNull(arguments[arguments.length - 1]);
        float[] weights = weights(Objects.requireNonNull(arguments[1]), context);
        float[] bias = context.floats(SUMS + 1 + TOGETHER);
        if (biased) {
            Tensor given = Objects.requireNonNull(arguments[2]);
            MemorySegment.copy(given.memory(), ValueLayout.JAVA_FLOAT, given.offset(), bias, 0, channels);
            repeat(bias);
        } else {
            Arrays.fill(bias, 0, rows * channels, 0);
        }
        for (int k = 0; k < kernel && kernel <= KEPT; k++) {
            System.arraycopy(weights, k * channels, context.floats(WEIGHTS + k), 0, channels);
            repeat(context.floats(WEIGHTS + k));
        }
        for (long image = 0; image < x.shape().dim(0); image++) {
            long from = x.offset() + image * xStep * Float.BYTES;
            long to = y.offset() + image * yStep * Float.BYTES;
            for (int at = 0; at < places; at += rows) {
                int count = Math.min(rows, places - at);
                float[] sums = context.floats(SUMS);
                System.arraycopy(bias, 0, sums, 0, count * channels);
                tile(x.memory(), from, at, count, weights, context);
                MemorySegment.copy(sums, 0, y.memory(), ValueLayout.JAVA_FLOAT,
                        to + (long) at * channels * Float.BYTES, count * channels);
            }
        }
    }

    /** The weights with channels innermost. */
    private float[] weights(Tensor w, KernelContext context) {
        float[] given = context.floatArray(2 * kernel * channels);
        int size = kernel * channels;
        MemorySegment.copy(w.memory(), ValueLayout.JAVA_FLOAT, w.offset(), given, size, size);
        for (int k = 0; k < kernel; k++) {
            for (int c = 0; c < channels; c++) {
                given[k * channels + c] = given[size + c * kernel + k];
            }
        }
        return given;
    }

    /** Repeats the first elements, one for each channel, for all pixels of a tile. */
    private void repeat(float[] tile) {
        int size = rows * channels;
        for (int done = channels; done < size; done *= 2) {
            System.arraycopy(tile, 0, tile, done, Math.min(done, size - done));
        }
    }

    private void tile(MemorySegment x, long from, int at, int count, float[] weights, KernelContext context) {
        float[] sums = context.floats(SUMS);
        for (int k = 0; k < kernel; k += TOGETHER) {
            int together = Math.min(TOGETHER, kernel - k);
            boolean whole = together == TOGETHER;
            for (int i = 0; i < together; i++) {
                int first = at + (k + i) * dilation - padding;
                int begin = Math.min(count, Math.max(0, -first));
                int end = Math.max(begin, Math.min(count, length - first));
                whole &= begin == 0 && end == count;
                if (begin < end) {
                    MemorySegment.copy(x, ValueLayout.JAVA_FLOAT,
                            from + (first + begin) * (long) channels * Float.BYTES, context.floats(FIRST + i),
                            begin * channels, (end - begin) * channels);
                }
            }
            if (whole) {
                addAll(sums, context.floats(FIRST), context.floats(FIRST + 1), context.floats(FIRST + 2),
                        context.floats(FIRST + 3), repeated(weights, k, count, context),
                        repeated(weights, k + 1, count, context), repeated(weights, k + 2, count, context),
                        repeated(weights, k + 3, count, context), count * channels);
                continue;
            }
            for (int i = 0; i < together; i++) {
                int first = at + (k + i) * dilation - padding;
                int begin = Math.min(count, Math.max(0, -first));
                int end = Math.max(begin, Math.min(count, length - first));
                add(sums, context.floats(FIRST + i), repeated(weights, k + i, count, context), begin * channels,
                        end * channels);
            }
        }
    }

    private float[] repeated(float[] weights, int k, int count, KernelContext context) {
        if (kernel <= KEPT) {
            return context.floats(WEIGHTS + k);
        }
        float[] tile = context.floats(WEIGHTS + k % TOGETHER);
        for (int i = 0; i < count; i++) {
            System.arraycopy(weights, k * channels, tile, i * channels, channels);
        }
        return tile;
    }

    private static void add(float[] sums, float[] x, float[] w, int from, int to) {
        for (int i = from; i < to; i++) {
            sums[i] += x[i] * w[i];
        }
    }

    private static void addAll(float[] sums, float[] a, float[] b, float[] c, float[] d, float[] wa, float[] wb,
            float[] wc, float[] wd, int count) {
        for (int i = 0; i < count; i++) {
            sums[i] = sums[i] + a[i] * wa[i] + b[i] * wb[i] + (c[i] * wc[i] + d[i] * wd[i]);
        }
    }
}
