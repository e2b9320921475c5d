package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Doubles;
import io.seriatim.tensor.Floats;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Longs;
import io.seriatim.tensor.LoopNest;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.ReductionGrad;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.portable.function.BinaryFunctions;
import io.seriatim.tensor.kernel.portable.function.SlidingExtremes;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Reductions, summed in double or, for whole numbers, in 64 bits. Two nests of loops: over the results, and over the
 * elements of one result. Where the elements of a result lie side by side they are folded one result after the other,
 * else a tile of neighbouring results is folded at once.
 */
final class PortableReduction {
    private static final int TURNS = 8;
    /** The extremes of longer rows take fewer steps one row after the other. */
    private static final int MOST_OF_SHIFTED = 128;

    private final Reduction.Function function;
    private final boolean whole;
    private final boolean unsigned;
    private final LoopNest results;
    private final LoopNest elements;
    private final long count;

    private PortableReduction(Reduction reduction, TensorSpec x, TensorSpec y) {
        function = reduction.function();
        whole = x.dtype().arithmetic() == DType.INT64;
        unsigned = x.dtype() == DType.UINT64;
        boolean[] reduced = reduction.reduced(x.shape());
        long[] strides = x.strides();
        long[] outStrides = outStrides(reduction, x, y, reduced);
        long[] kept = x.shape().dims();
        long[] gone = x.shape().dims();
        for (int i = 0; i < reduced.length; i++) {
            (reduced[i] ? kept : gone)[i] = 1;
        }
        results = LoopNest.of(Shape.of(kept), strides, outStrides);
        elements = LoopNest.of(Shape.of(gone), strides);
        count = Shape.of(gone).size();
    }

    /** One stride for each dimension of x. */
    private static long[] outStrides(Reduction reduction, TensorSpec x, TensorSpec y, boolean[] reduced) {
        long[] own = y.strides();
        long[] strides = new long[x.shape().rank()];
        int at = 0;
        for (int i = 0; i < strides.length; i++) {
            if (!reduced[i] || reduction.keepDims()) {
                strides[i] = own[at++];
            }
        }
        return strides;
    }

    static Kernel forward(Reduction reduction, @Nullable TensorSpec[] arguments) {
        TensorSpec x = Objects.requireNonNull(arguments[0]);
        PortableReduction kernel = new PortableReduction(reduction, x, Objects.requireNonNull(arguments[1]));
        boolean extreme = reduction.function() == Reduction.Function.MAX
                || reduction.function() == Reduction.Function.MIN;
        if (kernel.count == 0 && extreme && kernel.results.rows() > 0) {
            throw new IllegalArgumentException(
                    "reduction: the " + reduction.function() + " of no elements does not exist, but x is " + x
                            + " and axes " + reduction.axes() + " are reduced");
        }
        boolean rows = (kernel.elements.rowStride(0) == 1 && kernel.results.rowStride(0) != 1)
                || kernel.results.rowLength() == 1;
        return PortableKernel.of(kernel.whole
                ? kernel::longs
                : rows ? kernel.areShortRows(x) ? kernel::byShortRows : kernel::byRow : kernel::byTile);
    }

    /** Whether rows lie one after the other, several to a tile. */
    private boolean areShortRows(TensorSpec x) {
        boolean fits = switch (function) {
            case SUM, MEAN, MAX, MIN -> x.dtype().arithmetic() == DType.FLOAT32;
            default -> false;
        };
        long length = elements.rowLength();
        return fits && results.rows() == 1 && elements.rows() == 1 && elements.rowStride(0) == 1
                && results.rowStride(0) == length && length > 0 && length <= KernelContext.TILE / 2;
    }

    /** Loads as many rows at once as fit a tile. The bits are those of {@link #byRow}. */
    private void byShortRows(PortableKernel.Arguments all, KernelContext context) {
        Tensor x = all.get(0);
        Tensor y = all.get(1);
        float[] tile = context.floats(0);
        double[] values = context.doubles(0);
        int length = (int) elements.rowLength();
        int most = KernelContext.TILE / length;
        for (long column = 0; column < results.rowLength(); column += most) {
            int count = (int) Math.min(most, results.rowLength() - column);
            Floats.load(x.memory(), x.dtype(), x.offset() + column * length * x.dtype().bytes(), 1, tile, 0,
                    count * length);
            switch (function) {
                case MAX, MIN -> {
                    if (length <= MOST_OF_SHIFTED) {
                        // The extreme of a row is at its first element then.
                        SlidingExtremes.run(function == Reduction.Function.MAX, tile, context.floats(1), count * length,
                                length, 1);
                    }
                    for (int i = 0; i < count; i++) {
                        values[i] = length <= MOST_OF_SHIFTED ? tile[i * length] : extreme(tile, i * length, length);
                    }
                }
                default -> {
                    for (int i = 0; i < count; i++) {
                        values[i] = sum(tile, i * length, length);
                    }
                }
            }
            storeTile(y, 0, column, values, count);
        }
    }

    private static double sum(float[] tile, int from, int length) {
        double a = 0;
        double b = 0;
        double c = 0;
        double d = 0;
        int i = from;
        for (; i + 3 < from + length; i += 4) {
            a += tile[i];
            b += tile[i + 1];
            c += tile[i + 2];
            d += tile[i + 3];
        }
        for (; i < from + length; i++) {
            a += tile[i];
        }
        return a + b + (c + d);
    }

    private float extreme(float[] tile, int from, int length) {
        return function == Reduction.Function.MAX ? greatest(tile, from, length) : least(tile, from, length);
    }

    private static float greatest(float[] tile, int from, int length) {
        float a = Float.NEGATIVE_INFINITY;
        float b = a;
        int i = from;
        for (; i + 1 < from + length; i += 2) {
            a = Math.max(a, tile[i]);
            b = Math.max(b, tile[i + 1]);
        }
        return Math.max(i < from + length ? Math.max(a, tile[i]) : a, b);
    }

    private static float least(float[] tile, int from, int length) {
        float a = Float.POSITIVE_INFINITY;
        float b = a;
        int i = from;
        for (; i + 1 < from + length; i += 2) {
            a = Math.min(a, tile[i]);
            b = Math.min(b, tile[i + 1]);
        }
        return Math.min(i < from + length ? Math.min(a, tile[i]) : a, b);
    }

    private long start() {
        return switch (function) {
            case PRODUCT, ALL -> 1;
            case MAX -> unsigned ? 0 : Long.MIN_VALUE;
            case MIN -> unsigned ? -1L : Long.MAX_VALUE;
            default -> 0;
        };
    }

    private double startDouble() {
        return switch (function) {
            case PRODUCT, ALL -> 1;
            case MAX, LOG_SUM_EXP -> Double.NEGATIVE_INFINITY;
            case MIN -> Double.POSITIVE_INFINITY;
            default -> 0;
        };
    }

    private double end(double value) {
        return function == Reduction.Function.MEAN ? value / count : value;
    }

    private void byRow(PortableKernel.Arguments all, KernelContext context) {
        Tensor x = all.get(0);
        Tensor y = all.get(1);
        double[] tile = context.doubles(0);
        for (long row = 0; row < results.rows(); row++) {
            for (long column = 0; column < results.rowLength(); column++) {
                long from = results.offset(0, row) + column * results.rowStride(0);
                double value = startDouble();
                for (long part = 0; part < elements.rows(); part++) {
                    long begin = from + elements.offset(0, part);
                    if (sumsFloats(x)) {
                        value += sumOfRow(x, begin, context);
                        continue;
                    }
                    for (long i = 0; i < elements.rowLength(); i += KernelContext.TILE) {
                        int length = (int) Math.min(KernelContext.TILE, elements.rowLength() - i);
                        long at = x.offset() + (begin + i * elements.rowStride(0)) * x.dtype().bytes();
                        Doubles.load(x.memory(), x.dtype(), at, elements.rowStride(0), tile, 0, length);
                        value = fold(value, tile, length);
                    }
                }
                long to = results.offset(1, row) + column * results.rowStride(1);
                Doubles.set(y.memory(), y.dtype(), y.offset() + to * y.dtype().bytes(), end(value));
            }
        }
    }

    /**
     * float32 is loaded as it is, and widened in the loop that sums: the JIT makes vector instructions of both. 16-bit
     * numbers are float32, too.
     */
    private boolean sumsFloats(Tensor x) {
        return x.dtype().arithmetic() == DType.FLOAT32
                && (function == Reduction.Function.SUM || function == Reduction.Function.MEAN);
    }

    private double sumOfRow(Tensor x, long begin, KernelContext context) {
        float[] tile = context.floats(0);
        double a = 0;
        double b = 0;
        double c = 0;
        double d = 0;
        for (long i = 0; i < elements.rowLength(); i += KernelContext.TILE) {
            int length = (int) Math.min(KernelContext.TILE, elements.rowLength() - i);
            Floats.load(x.memory(), x.dtype(), x.offset() + (begin + i * elements.rowStride(0)) * x.dtype().bytes(),
                    elements.rowStride(0),
                    tile, 0, length);
            int j = 0;
            // Four independent sums hide the latency of an addition.
            for (; j + 3 < length; j += 4) {
                a += tile[j];
                b += tile[j + 1];
                c += tile[j + 2];
                d += tile[j + 3];
            }
            for (; j < length; j++) {
                a += tile[j];
            }
        }
        return a + b + (c + d);
    }

    /**
     * The sums of neighbouring results, of few enough that eight rows of them fit a tile: each result has eight sums,
     * which take turns, so that a loop has many additions also for few results. The order does not depend on how many
     * results there are, so that parts of them have the same bits.
     */
    private void sumsOfTile(Tensor x, long from, double[] sums, int length, KernelContext context) {
        float[] tile = context.floats(0);
        float[] scratch = context.floats(1);
        int turn = TURNS * length;
        int most = KernelContext.TILE / turn * TURNS;
        Arrays.fill(sums, 0, turn, 0);
        for (long part = 0; part < elements.rows(); part++) {
            for (long i = 0; i < elements.rowLength(); i += most) {
                int rows = (int) Math.min(most, elements.rowLength() - i);
                long at =
                        x.offset() + (from + elements.offset(0, part) + i * elements.rowStride(0)) * x.dtype().bytes();
                Floats.loadBlock(x.memory(), x.dtype(), at, elements.rowStride(0), rows, results.rowStride(0), length,
                        tile, scratch);
                int size = rows * length;
                if (size <= turn) {
                    addFloats(sums, tile, size);
                    continue;
                }
                for (int begin = 0; begin < size; begin += turn) {
                    addFloats(sums, tile, begin, Math.min(turn, size - begin));
                }
            }
        }
        for (int first = length; first < turn; first += length) {
            for (int j = 0; j < length; j++) {
                sums[j] += sums[first + j];
            }
        }
    }

    private static void addFloats(double[] sums, float[] tile, int count) {
        for (int i = 0; i < count; i++) {
            sums[i] += tile[i];
        }
    }

    private static void addFloats(double[] sums, float[] tile, int from, int count) {
        for (int i = 0; i < count; i++) {
            sums[i] += tile[from + i];
        }
    }

    private double fold(double start, double[] tile, int length) {
        double value = start;
        if (function == Reduction.Function.SUM || function == Reduction.Function.MEAN) {
            for (int i = 0; i < length; i++) {
                value += tile[i];
            }
            return value;
        }
        for (int i = 0; i < length; i++) {
            value = step(value, tile[i]);
        }
        return value;
    }

    private double step(double value, double x) {
        return switch (function) {
            case SUM, MEAN -> value + x;
            case MAX -> Math.max(value, x);
            case MIN -> Math.min(value, x);
            case PRODUCT -> value * x;
            case ALL -> value != 0 && x != 0 ? 1 : 0;
            case ANY -> value != 0 || x != 0 ? 1 : 0;
            case SUM_OF_SQUARES -> value + x * x;
            case SUM_OF_MAGNITUDES -> value + Math.abs(x);
            case LOG_SUM_EXP -> logSumExp(value, x);
        };
    }

    private static double logSumExp(double a, double b) {
        double most = Math.max(a, b);
        if (Double.isInfinite(most)) {
            return most;
        }
        return most + Math.log1p(Math.exp(Math.min(a, b) - most));
    }

    private void byTile(PortableKernel.Arguments all, KernelContext context) {
        Tensor x = all.get(0);
        Tensor y = all.get(1);
        double[] tile = context.doubles(0);
        double[] sums = context.doubles(1);
        boolean addsFloats = sumsFloats(x);
        int most = addsFloats ? KernelContext.TILE / TURNS : KernelContext.TILE;
        for (long row = 0; row < results.rows(); row++) {
            for (long column = 0; column < results.rowLength(); column += most) {
                int length = (int) Math.min(most, results.rowLength() - column);
                long from = results.offset(0, row) + column * results.rowStride(0);
                if (addsFloats) {
                    sumsOfTile(x, from, sums, length, context);
                    storeTile(y, row, column, sums, length);
                    continue;
                }
                Arrays.fill(sums, 0, length, startDouble());
                for (long part = 0; part < elements.rows(); part++) {
                    for (long i = 0; i < elements.rowLength(); i++) {
                        long at = x.offset()
                                + (from + elements.offset(0, part) + i * elements.rowStride(0)) * x.dtype().bytes();
                        Doubles.load(x.memory(), x.dtype(), at, results.rowStride(0), tile, 0, length);
                        foldEach(sums, tile, length);
                    }
                }
                storeTile(y, row, column, sums, length);
            }
        }
    }

    private void storeTile(Tensor y, long row, long column, double[] sums, int length) {
        for (int i = 0; i < length; i++) {
            sums[i] = end(sums[i]);
        }
        long to = results.offset(1, row) + column * results.rowStride(1);
        Doubles.store(y.memory(), y.dtype(), y.offset() + to * y.dtype().bytes(), results.rowStride(1), sums, 0,
                length);
    }

    private void foldEach(double[] sums, double[] tile, int length) {
        if (function == Reduction.Function.SUM || function == Reduction.Function.MEAN) {
            for (int i = 0; i < length; i++) {
                sums[i] += tile[i];
            }
            return;
        }
        for (int i = 0; i < length; i++) {
            sums[i] = step(sums[i], tile[i]);
        }
    }

    private void longs(PortableKernel.Arguments all, KernelContext context) {
        Tensor x = all.get(0);
        Tensor y = all.get(1);
        long[] tile = context.longs(0);
        for (long row = 0; row < results.rows(); row++) {
            for (long column = 0; column < results.rowLength(); column++) {
                long from = results.offset(0, row) + column * results.rowStride(0);
                long value = start();
                for (long part = 0; part < elements.rows(); part++) {
                    for (long i = 0; i < elements.rowLength(); i += KernelContext.TILE) {
                        int length = (int) Math.min(KernelContext.TILE, elements.rowLength() - i);
                        long at = x.offset()
                                + (from + elements.offset(0, part) + i * elements.rowStride(0)) * x.dtype().bytes();
                        Longs.load(x.memory(), x.dtype(), at, elements.rowStride(0), tile, 0, length);
                        value = fold(value, tile, length);
                    }
                }
                long to = results.offset(1, row) + column * results.rowStride(1);
                Longs.set(y.memory(), y.dtype(), y.offset() + to * y.dtype().bytes(), value);
            }
        }
    }

    private long fold(long value, long[] tile, int count) {
        long folded = value;
        if (function == Reduction.Function.SUM) {
            for (int i = 0; i < count; i++) {
                folded += tile[i];
            }
            return folded;
        }
        for (int i = 0; i < count; i++) {
            folded = step(folded, tile[i]);
        }
        return folded;
    }

    private long step(long value, long x) {
        return switch (function) {
            case SUM -> value + x;
            case MAX ->
                unsigned ? BinaryFunctions.applyUnsigned(Binary.Function.MAXIMUM, value, x) : Math.max(value, x);
            case MIN ->
                unsigned ? BinaryFunctions.applyUnsigned(Binary.Function.MINIMUM, value, x) : Math.min(value, x);
            case PRODUCT -> value * x;
            case ALL -> value != 0 && x != 0 ? 1 : 0;
            case ANY -> value != 0 || x != 0 ? 1 : 0;
            case SUM_OF_SQUARES -> value + x * x;
            case SUM_OF_MAGNITUDES -> value + (unsigned ? x : Math.abs(x));
            case MEAN, LOG_SUM_EXP -> throw new IllegalStateException(function + " of whole numbers");
        };
    }

    /** Whole numbers have no mean. */
    static @Nullable Kernel forwardOfAny(Reduction reduction, @Nullable TensorSpec[] arguments) {
        boolean real = reduction.function() == Reduction.Function.MEAN
                || reduction.function() == Reduction.Function.LOG_SUM_EXP;
        return real && !Objects.requireNonNull(arguments[0]).dtype().isFloating()
                ? null
                : forward(reduction, arguments);
    }

    static Kernel grad(ReductionGrad grad, @Nullable TensorSpec[] arguments) {
        TensorSpec x = Objects.requireNonNull(arguments[0]);
        TensorSpec y = arguments[1];
        TensorSpec dx = Objects.requireNonNull(arguments[3]);
        Reduction reduction = grad.reduction();
        Shape wide = new Reduction(reduction.function(), reduction.axes(), true).infer(x)[0].shape();
        double share = reduction.function() == Reduction.Function.MEAN
                ? (double) wide.size() / Math.max(1, x.shape().size())
                : 1;
        Elementwise walk = Elementwise.of(DType.FLOAT64, dx, x, y == null ? null : widened(y, wide),
                widened(Objects.requireNonNull(arguments[2]), wide));
        boolean needsResult = needsResult(reduction.function());
        if (needsResult && y == null) {
            throw new IllegalArgumentException(
                    "reduction_grad: the gradient of " + reduction.function() + " needs the result y");
        }
        return walk.kernel(new Elementwise.Tile() {
            @Override
            public void doubles(KernelContext context, int count) {
                double[] values = context.doubles(0);
                double[] results = context.doubles(1);
                double[] dy = context.doubles(2);
                double[] to = context.doubles(3);
                for (int i = 0; i < count; i++) {
                    to[i] = dy[i] * share * derivative(reduction.function(), values[i], results[i]);
                }
            }
        });
    }

    /** A result with the reduced axes put back, of length 1. */
    private static TensorSpec widened(TensorSpec spec, Shape wide) {
        if (spec.shape().equals(wide)) {
            return spec;
        }
        long[] own = spec.strides();
        long[] strides = new long[wide.rank()];
        int at = 0;
        for (int i = 0; i < strides.length; i++) {
            if (at < own.length && wide.dim(i) == spec.shape().dim(at)) {
                strides[i] = own[at++];
            }
        }
        return new TensorSpec(spec.dtype(), wide, Layout.strided(strides));
    }

    private static boolean needsResult(Reduction.Function function) {
        return switch (function) {
            case MAX, MIN, PRODUCT, LOG_SUM_EXP -> true;
            default -> false;
        };
    }

    private static double derivative(Reduction.Function function, double x, double y) {
        return switch (function) {
            case SUM, MEAN -> 1;
            case MAX, MIN -> x == y ? 1 : 0;
            case PRODUCT -> y / x;
            case SUM_OF_SQUARES -> 2 * x;
            case SUM_OF_MAGNITUDES -> Math.signum(x);
            case LOG_SUM_EXP -> Math.exp(x - y);
            case ALL, ANY -> throw new IllegalArgumentException(function + " has no gradient");
        };
    }
}
