package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Doubles;
import io.seriatim.tensor.Longs;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Pad;
import io.seriatim.tensor.computation.PadGrad;
import io.seriatim.tensor.kernel.Kernel;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Padding and its gradient, element by element over prepared tables of sources. */
final class PortablePad {
    private static final int CONSTANT = -1;

    private PortablePad() {
    }

    /** For each dimension and index of the padded tensor, the index in the inner one. */
    private static int[][] sources(Pad pad, Shape padded, Shape inner) {
        int[][] sources = new int[padded.rank()][];
        for (int i = 0; i < sources.length; i++) {
            sources[i] = new int[Math.toIntExact(padded.dim(i))];
            for (int j = 0; j < sources[i].length; j++) {
                sources[i][j] = (int) pad.source(i, j, inner.dim(i));
            }
        }
        return sources;
    }

    /**
     * The place of one element of the padded tensor in memory, and that of its source or CONSTANT, both in elements.
     */
    private interface Pair {
        void of(long padded, long inner);
    }

    private static void walk(int[][] sources, long[] padded, long[] inner, Pair pair) {
        walk(sources, padded, inner, 0, 0, 0, pair);
    }

    private static void walk(int[][] sources, long[] padded, long[] inner, int dimension, long at, long from,
            Pair pair) {
        if (dimension == sources.length) {
            pair.of(at, from);
            return;
        }
        for (int i = 0; i < sources[dimension].length; i++) {
            int source = sources[dimension][i];
            long next = from == CONSTANT || source == CONSTANT ? CONSTANT : from + source * inner[dimension];
            walk(sources, padded, inner, dimension + 1, at + i * padded[dimension], next, pair);
        }
    }

    /** Offsets may not be negative, as CONSTANT is: views that run backwards are for others. */
    private static boolean isForward(TensorSpec spec) {
        for (long stride : spec.strides()) {
            if (stride < 0) {
                return false;
            }
        }
        return true;
    }

    static @Nullable Kernel forward(Pad pad, @Nullable TensorSpec[] arguments) {
        TensorSpec x = Objects.requireNonNull(arguments[0]);
        TensorSpec y = Objects.requireNonNull(arguments[1]);
        if (!isForward(x)) {
            return null;
        }
        int[][] sources = sources(pad, y.shape(), x.shape());
        boolean whole = x.dtype().arithmetic() == DType.INT64;
        long constant = PortableCopy.whole(x.dtype(), pad.value());
        int bytes = x.dtype().bytes();
        return PortableKernel.of((all, _) -> {
            Tensor in = all.get(0);
            Tensor out = all.get(1);
            walk(sources, y.strides(), x.strides(), (to, from) -> {
                long write = out.offset() + to * bytes;
                long read = in.offset() + from * bytes;
                if (whole) {
                    Longs.set(out.memory(), out.dtype(), write,
                            from == CONSTANT ? constant : Longs.get(in.memory(), in.dtype(), read));
                } else {
                    Doubles.set(out.memory(), out.dtype(), write,
                            from == CONSTANT ? pad.value() : Doubles.get(in.memory(), in.dtype(), read));
                }
            });
        });
    }

    static @Nullable Kernel grad(PadGrad grad, @Nullable TensorSpec[] arguments) {
        TensorSpec dy = Objects.requireNonNull(arguments[0]);
        TensorSpec dx = Objects.requireNonNull(arguments[1]);
        if (!dx.isRowMajor()) {
            return null;
        }
        int[][] sources = sources(grad.forward(), dy.shape(), dx.shape());
        int size = Math.toIntExact(dx.shape().size());
        return PortableKernel.of((all, context) -> {
            double[] sums = context.doubleArray(size);
            Arrays.fill(sums, 0, size, 0);
            Tensor in = all.get(0);
            walk(sources, dy.strides(), dx.strides(), (from, to) -> {
                if (to != CONSTANT) {
                    sums[(int) to] += Doubles.get(in.memory(), in.dtype(), in.offset() + from * in.dtype().bytes());
                }
            });
            Doubles.store(all.get(1), 0, sums, 0, size);
        });
    }
}
