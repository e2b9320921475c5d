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
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Padding and its gradient over prepared tables of sources. Padding copies whole rows where both tensors have them;
 * otherwise it goes element by element.
 */
final class PortablePad {
    private static final int CONSTANT = -1;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;

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

    /**
     * A padded tensor in rows of {@code unit} elements that lie side by side in both tensors, {@code sources} of which
     * are a row of the padded one: the first of the inner tensor lies at {@code before}, {@code count} follow one
     * another. The axes outside have {@code outer} sources and the strides of both tensors.
     */
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    private record Rows(int[] sources, int before, int count, int unit, int[][] outer, long[] padded, long[] inner) {
        static @Nullable Rows of(int[][] sources, TensorSpec x, TensorSpec y) {
            List<Integer> axes = new ArrayList<>(IntStream.range(0, sources.length)
                    .filter(i -> y.shape().dim(i) != 1 || sources[i][0] != 0).boxed()
                    .sorted(Comparator.comparingLong(i -> -y.strides()[i])).toList());
            int unit = 1;
            int[] row = {0};
            int before = 0;
            int count = 1;
            while (!axes.isEmpty() && follows(x, axes.getLast(), unit) && follows(y, axes.getLast(), unit)) {
                int axis = axes.removeLast();
                int length = Math.toIntExact(x.shape().dim(axis));
                if (sources[axis].length != length && length > 0) {
                    row = sources[axis];
                    before = IntStream.range(0, row.length).filter(i -> isCopied(sources[axis], i, length)).findFirst()
                            .orElse(0);
                    count = length;
                    break;
                }
                unit = Math.multiplyExact(unit, length);
            }
            if (unit * row.length < 2) {
                return null;
            }
            return new Rows(row, before, count, unit, axes.stream().map(i -> sources[i]).toArray(int[][]::new),
                    axes.stream().mapToLong(i -> y.strides()[i]).toArray(),
                    axes.stream().mapToLong(i -> x.strides()[i]).toArray());
        }

        private static boolean follows(TensorSpec spec, int axis, int unit) {
            return spec.strides()[axis] == unit || spec.shape().dim(axis) == 1;
        }

        private static boolean isCopied(int[] sources, int from, int length) {
            return from + length <= sources.length
                    && IntStream.range(0, length).allMatch(i -> sources[from + i] == i);
        }

        /** The bytes of a row of the padded tensor. */
        long bytes(int element) {
            return (long) sources.length * unit * element;
        }

        Kernel kernel(MemorySegment constants, int element) {
            long piece = (long) unit * element;
            long whole = bytes(element);
            long begin = before * piece;
            int end = before + count;
            boolean runBefore = isRun(0, before);
            boolean runAfter = isRun(end, sources.length);
            return PortableKernel.of((all, _) -> {
                Tensor in = all.get(0);
                Tensor out = all.get(1);
                walk(outer, padded, inner, (to, from) -> {
                    long write = out.offset() + to * element;
                    if (from == CONSTANT) {
                        MemorySegment.copy(constants, 0, out.memory(), write, whole);
                        return;
                    }
                    long read = in.offset() + from * element;
                    MemorySegment.copy(in.memory(), read, out.memory(), write + begin, count * piece);
                    edge(0, before, runBefore, in, read, out, write, constants, piece);
                    edge(end, sources.length, runAfter, in, read, out, write, constants, piece);
                });
            });
        }

        /** Whether sources follow one another, as those of an axis that is repeated do. */
        private boolean isRun(int from, int to) {
            return to - from > 1 && sources[from] != CONSTANT
                    && IntStream.range(from, to).allMatch(i -> sources[i] - sources[from] == i - from);
        }

        private void edge(int from, int to, boolean run, Tensor in, long read, Tensor out, long write,
                MemorySegment constants, long piece) {
            if (from < to && sources[from] == CONSTANT) {
                MemorySegment.copy(constants, 0, out.memory(), write + from * piece, (to - from) * piece);
            } else if (run) {
                MemorySegment.copy(in.memory(), read + sources[from] * piece, out.memory(), write + from * piece,
                        (to - from) * piece);
            } else if (piece == Integer.BYTES) {
                // Single elements are moved without a call.
                for (int i = from; i < to; i++) {
                    out.memory().set(INT, write + (long) i * Integer.BYTES,
                            in.memory().get(INT, read + (long) sources[i] * Integer.BYTES));
                }
            } else {
                for (int i = from; i < to; i++) {
                    MemorySegment.copy(in.memory(), read + sources[i] * piece, out.memory(), write + i * piece, piece);
                }
            }
        }
    }

    /** As many bytes of the constant as are asked for. */
    private static MemorySegment constants(DType dtype, double value, long bytes) {
        MemorySegment constants = MemorySegment.ofArray(new long[Math.toIntExact(bytes / Long.BYTES + 1)]);
        for (long at = 0; at < bytes; at += dtype.bytes()) {
            if (dtype.arithmetic() == DType.INT64) {
                Longs.set(constants, dtype, at, PortableCopy.whole(dtype, value));
            } else {
                Doubles.set(constants, dtype, at, value);
            }
        }
        return constants;
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
        Rows rows = Rows.of(sources, x, y);
        if (rows != null) {
            int element = x.dtype().bytes();
            return rows.kernel(constants(x.dtype(), pad.value(), rows.bytes(element)), element);
        }
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
