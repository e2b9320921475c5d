package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Doubles;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Fourier;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.portable.view.AxisView;
import io.seriatim.tensor.numerics.FourierTransform;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Fourier transforms along an axis, vector by vector, in double precision. */
final class FourierKernel extends PortableKernel {
    private final Fourier fourier;
    private final FourierTransform transform;
    private final AxisView from;
    private final AxisView to;

    private FourierKernel(Fourier fourier, FourierTransform transform, AxisView from, AxisView to) {
        this.fourier = fourier;
        this.transform = transform;
        this.from = from;
        this.to = to;
    }

    static Kernel of(Fourier fourier, @Nullable TensorSpec[] arguments) {
        TensorSpec x = Objects.requireNonNull(arguments[0]);
        TensorSpec y = Objects.requireNonNull(arguments[1]);
        int axis = x.shape().axis(fourier.axis());
        return new FourierKernel(fourier, FourierTransform.of(Math.toIntExact(fourier.length())),
                AxisView.of(x, axis), AxisView.of(y, axis));
    }

    @Override
    void compute(@Nullable Tensor[] arguments, KernelContext context) {
        Tensor x = Objects.requireNonNull(arguments[0]);
        Tensor y = Objects.requireNonNull(arguments[1]);
        int n = transform.length();
        double[] values = context.doubleArray(Math.addExact(2 * n, transform.workLength()));
        for (long vector = 0; vector < to.count(); vector++) {
            load(x, vector, values, n);
            if (fourier.inverse()) {
                transform.transform(values, n, 0, 2 * n);
            } else {
                transform.transform(values, 0, n, 2 * n);
            }
            if (fourier.scale() != 1) {
                for (int i = 0; i < 2 * n; i++) {
                    values[i] *= fourier.scale();
                }
            }
            if (fourier.kind() == Fourier.Kind.FROM_REAL) {
                // These are real, but for rounding.
                values[n] = 0;
                values[n + n / 2] = n % 2 == 0 ? 0 : values[n + n / 2];
            }
            store(y, vector, values, n);
        }
    }

    private void load(Tensor x, long vector, double[] values, int n) {
        switch (fourier.kind()) {
            case COMPLEX -> complex(x, vector, values, n, n);
            case FROM_REAL -> {
                from.load(x, vector, values, 0);
                Arrays.fill(values, n, 2 * n, 0);
            }
            case TO_REAL -> {
                int half = (int) Fourier.half(n);
                complex(x, vector, values, n, half);
                // The imaginary parts of numbers that are their own mirror images have no effect on the real result.
                for (int i = 1; i < n - half + 1; i++) {
                    values[n - i] = values[i];
                    values[2 * n - i] = -values[n + i];
                }
            }
        }
    }

    private void complex(Tensor x, long vector, double[] values, int n, int count) {
        DType part = x.dtype().real();
        long at = from.at(x, vector);
        Doubles.load(x.memory(), part, at, 2 * from.stride(), values, 0, count);
        Doubles.load(x.memory(), part, at + part.bytes(), 2 * from.stride(), values, n, count);
    }

    private void store(Tensor y, long vector, double[] values, int n) {
        if (fourier.kind() == Fourier.Kind.TO_REAL) {
            to.store(y, vector, values, 0);
            return;
        }
        DType part = y.dtype().real();
        long at = to.at(y, vector);
        Doubles.store(y.memory(), part, at, 2 * to.stride(), values, 0, to.length());
        Doubles.store(y.memory(), part, at + part.bytes(), 2 * to.stride(), values, n, to.length());
    }
}
