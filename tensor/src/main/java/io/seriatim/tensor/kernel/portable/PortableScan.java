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
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Sums up to an element, and places of extremes: one vector after the other. */
final class PortableScan {
    private PortableScan() {
    }

    static Kernel scan(Scan scan, @Nullable TensorSpec[] arguments) {
        TensorSpec spec = Objects.requireNonNull(arguments[0]);
        AxisView x = AxisView.of(spec, scan.axis());
        AxisView y = AxisView.of(Objects.requireNonNull(arguments[1]), scan.axis());
        boolean whole = spec.dtype().arithmetic() == DType.INT64;
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
