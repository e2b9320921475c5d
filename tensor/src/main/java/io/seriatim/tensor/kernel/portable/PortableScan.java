package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Doubles;
import io.seriatim.tensor.Floats;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Longs;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.ArgReduction;
import io.seriatim.tensor.computation.Scan;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.portable.view.AxisView;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Sums up to an element, and places of extremes: one vector after the other. */
final class PortableScan {
    /** Vectors that are summed in turns. */
    private static final int TOGETHER = 4;

    private PortableScan() {
    }

    static Kernel scan(Scan scan, @Nullable TensorSpec[] arguments) {
        TensorSpec spec = Objects.requireNonNull(arguments[0]);
        AxisView x = AxisView.of(spec, scan.axis());
        AxisView y = AxisView.of(Objects.requireNonNull(arguments[1]), scan.axis());
        boolean whole = spec.dtype().arithmetic() == DType.INT64;
        if (spec.dtype() == DType.FLOAT32 && y.count() > 0) {
            return areNeighbours(x) && areNeighbours(y) && x.others().rowLength() == y.others().rowLength()
                    ? PortableKernel.of((all, context) -> neighbours(scan, all.get(0), all.get(1), x, y, context))
                    : PortableKernel.of((all, context) -> floats(scan, all.get(0), all.get(1), x, y, context));
        }
        return PortableKernel.of((all, _) -> {
            for (long i = 0; i < x.count(); i++) {
                long from = x.at(all.get(0), i);
                long to = y.at(all.get(1), i);
                if (whole) {
                    longs(scan, all.get(0), all.get(1), x, y, from, to);
                } else {
                    doubles(scan, all.get(0), all.get(1), x, y, from, to);
                }
            }
        });
    }

    /** Whether several vectors begin side by side. */
    private static boolean areNeighbours(AxisView view) {
        return view.others().rowStride(0) == 1 && view.others().rowLength() > TOGETHER && view.stride() != 1;
    }

    /** One step of many vectors at once: their sums are those of {@link #doubles}. */
    private static void neighbours(Scan scan, Tensor x, Tensor y, AxisView in, AxisView out, KernelContext context) {
        long row = in.others().rowLength();
        double[] sums = context.doubles(0);
        float[] tile = context.floats(0);
        for (long begin = 0; begin < in.count(); begin += row) {
            for (long first = 0; first < row; first += KernelContext.TILE) {
                int count = (int) Math.min(KernelContext.TILE, row - first);
                long from = in.at(x, begin + first);
                long to = out.at(y, begin + first);
                Arrays.fill(sums, 0, count, 0);
                for (int j = 0; j < in.length(); j++) {
                    int at = scan.reverse() ? in.length() - 1 - j : j;
                    Floats.load(x.memory(), DType.FLOAT32, from + at * in.stride() * Float.BYTES, 1, tile, 0, count);
                    if (scan.exclusive()) {
                        before(sums, tile, count);
                    } else {
                        add(sums, tile, count);
                    }
                    Floats.store(y.memory(), DType.FLOAT32, to + at * out.stride() * Float.BYTES, 1, tile, 0, count);
                }
            }
        }
    }

    private static void add(double[] sums, float[] tile, int count) {
        for (int i = 0; i < count; i++) {
            sums[i] += tile[i];
            tile[i] = (float) sums[i];
        }
    }

    private static void before(double[] sums, float[] tile, int count) {
        for (int i = 0; i < count; i++) {
            double sum = sums[i];
            sums[i] = sum + tile[i];
            tile[i] = (float) sum;
        }
    }

    /** Several vectors take turns, since an addition waits for the one before it. */
    private static void floats(Scan scan, Tensor x, Tensor y, AxisView in, AxisView out, KernelContext context) {
        double[] sums = context.doubles(0);
        float[] tile = context.floats(0);
        int most = Math.min(KernelContext.TILE / TOGETHER, in.length());
        for (long vector = 0; vector < in.count(); vector += TOGETHER) {
            int count = (int) Math.min(TOGETHER, in.count() - vector);
            Arrays.fill(sums, 0, TOGETHER, 0);
            for (int j = 0; j < in.length(); j += most) {
                int part = Math.min(most, in.length() - j);
                int first = scan.reverse() ? in.length() - j - part : j;
                for (int i = 0; i < count; i++) {
                    Floats.load(x.memory(), DType.FLOAT32,
                            in.at(x, vector + i) + first * in.stride() * Float.BYTES, in.stride(), tile, i * part,
                            part);
                }
                sums(scan, tile, sums, part);
                for (int i = 0; i < count; i++) {
                    Floats.store(y.memory(), DType.FLOAT32,
                            out.at(y, vector + i) + first * out.stride() * Float.BYTES, out.stride(), tile, i * part,
                            part);
                }
            }
        }
    }

    private static void sums(Scan scan, float[] tile, double[] sums, int part) {
        double a = sums[0];
        double b = sums[1];
        double c = sums[2];
        double d = sums[3];
        int step = scan.reverse() ? -1 : 1;
        boolean exclusive = scan.exclusive();
        int at = scan.reverse() ? part - 1 : 0;
        for (int j = 0; j < part; j++) {
            double wasA = a;
            double wasB = b;
            double wasC = c;
            double wasD = d;
            a += tile[at];
            b += tile[at + part];
            c += tile[at + 2 * part];
            d += tile[at + 3 * part];
            tile[at] = (float) (exclusive ? wasA : a);
            tile[at + part] = (float) (exclusive ? wasB : b);
            tile[at + 2 * part] = (float) (exclusive ? wasC : c);
            tile[at + 3 * part] = (float) (exclusive ? wasD : d);
            at += step;
        }
        sums[0] = a;
        sums[1] = b;
        sums[2] = c;
        sums[3] = d;
    }

    private static void doubles(Scan scan, Tensor x, Tensor y, AxisView in, AxisView out, long from, long to) {
        double sum = 0;
        for (int j = 0; j < in.length(); j++) {
            int at = scan.reverse() ? in.length() - 1 - j : j;
            double value = Doubles.get(x.memory(), x.dtype(), from + at * in.stride() * x.dtype().bytes());
            double before = sum;
            sum += value;
            Doubles.set(y.memory(), y.dtype(), to + at * out.stride() * y.dtype().bytes(),
                    scan.exclusive() ? before : sum);
        }
    }

    private static void longs(Scan scan, Tensor x, Tensor y, AxisView in, AxisView out, long from, long to) {
        long sum = 0;
        for (int j = 0; j < in.length(); j++) {
            int at = scan.reverse() ? in.length() - 1 - j : j;
            long value = Longs.get(x.memory(), x.dtype(), from + at * in.stride() * x.dtype().bytes());
            long before = sum;
            sum += value;
            Longs.set(y.memory(), y.dtype(), to + at * out.stride() * y.dtype().bytes(),
                    scan.exclusive() ? before : sum);
        }
    }

    static Kernel extreme(ArgReduction reduction, @Nullable TensorSpec[] arguments) {
        TensorSpec spec = Objects.requireNonNull(arguments[0]);
        TensorSpec out = Objects.requireNonNull(arguments[1]);
        AxisView x = AxisView.of(spec, reduction.axis());
        AxisView y = AxisView.of(
                reduction.keepDims()
                        ? out
                        : widened(out, spec.shape().with(reduction.axis(), 1), spec.shape().axis(reduction.axis())),
                reduction.axis());
        DType arithmetic = spec.dtype().arithmetic();
        return PortableKernel.of((all, context) -> {
            for (long i = 0; i < x.count(); i++) {
                long at = x.at(all.get(0), i);
                long place = switch (arithmetic) {
                    case INT64 -> extremeLong(reduction, all.get(0), x, at);
                    case FLOAT32 -> extremeFloat(reduction, all.get(0), x, at, context.floats(0));
                    default -> extremeDouble(reduction, all.get(0), x, at);
                };
                Longs.set(all.get(1).memory(), all.get(1).dtype(), y.at(all.get(1), i), place);
            }
        });
    }

    private static TensorSpec widened(TensorSpec spec, Shape wide, int axis) {
        long[] own = spec.strides();
        long[] strides = new long[wide.rank()];
        for (int i = 0; i < strides.length; i++) {
            strides[i] = i == axis ? 0 : own[i < axis ? i : i - 1];
        }
        return new TensorSpec(spec.dtype(), wide, Layout.strided(strides));
    }

    /** A tile at a time. The smallest element is where the largest of the negated ones is. */
    private static int extremeFloat(ArgReduction reduction, Tensor x, AxisView strip, long at, float[] tile) {
        int place = 0;
        float best = Float.NEGATIVE_INFINITY;
        float sign = reduction.largest() ? 1 : -1;
        for (int first = 0; first < strip.length(); first += KernelContext.TILE) {
            int count = Math.min(KernelContext.TILE, strip.length() - first);
            Floats.load(x.memory(), x.dtype(), at + first * strip.stride() * x.dtype().bytes(), strip.stride(), tile,
                    0, count);
            for (int j = 0; j < count; j++) {
                float value = sign * tile[j];
                // Also if it is NaN.
                if (!(value <= best)) {
                    best = value;
                    place = first + j;
                    if (Float.isNaN(best)) {
                        return place;
                    }
                }
            }
        }
        return place;
    }

    private static int extremeDouble(ArgReduction reduction, Tensor x, AxisView strip, long at) {
        int place = 0;
        double best = Doubles.get(x.memory(), x.dtype(), at);
        for (int j = 1; j < strip.length() && !Double.isNaN(best); j++) {
            double value = Doubles.get(x.memory(), x.dtype(), at + j * strip.stride() * x.dtype().bytes());
            if (Double.isNaN(value) || (reduction.largest() ? value > best : value < best)) {
                best = value;
                place = j;
            }
        }
        return place;
    }

    private static int extremeLong(ArgReduction reduction, Tensor x, AxisView strip, long at) {
        int place = 0;
        // Numbers without a sign are in order when the first of their bits is changed.
        long sign = x.dtype() == DType.UINT64 ? Long.MIN_VALUE : 0;
        long best = Longs.get(x.memory(), x.dtype(), at) ^ sign;
        for (int j = 1; j < strip.length(); j++) {
            long value = Longs.get(x.memory(), x.dtype(), at + j * strip.stride() * x.dtype().bytes()) ^ sign;
            if (reduction.largest() ? value > best : value < best) {
                best = value;
                place = j;
            }
        }
        return place;
    }
}
