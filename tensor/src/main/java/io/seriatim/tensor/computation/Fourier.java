package io.seriatim.tensor.computation;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Split;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The discrete Fourier transform along an axis: scale · Σ xⱼ · exp(∓2πi·jk/n). Input x; output as the kind says.
 *
 * @param kind
 *            what is real
 * @param axis
 *            from −rank
 * @param length
 *            n, the length of the axis where it is whole
 * @param inverse
 *            whether the exponent is positive
 * @param scale
 *            a factor
 */
public record Fourier(Kind kind, int axis, long length, boolean inverse, double scale) implements Computation {
    /** What is real: then half of the complex numbers follow from the others. */
    public enum Kind {
        /** From complex numbers to complex numbers. */
        COMPLEX,
        /** From n real numbers to the first n/2 + 1 complex ones. */
        FROM_REAL,
        /** From the first n/2 + 1 complex numbers to n real ones; further complex numbers are not read. */
        TO_REAL
    }

    /**
     * How many numbers of half a transform do not follow from others.
     *
     * @param length
     *            of the transform
     * @return half of it and one more
     */
    public static long half(long length) {
        return length / 2 + 1;
    }

    @Override
    public String operation() {
        return "fourier";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, 1, 1);
        TensorSpec x = in.get(0, "x");
        in.require(x.shape().rank() > 0, "x needs at least one dimension");
        int at = x.shape().axis(axis);
        long given = x.shape().dim(at);
        in.require(length >= 1, "the length must be positive, but is %d", length);
        return new TensorSpec[]{switch (kind) {
            case COMPLEX -> {
                in.require(x.dtype().isComplex() && given == length,
                        "x must be complex, with %d numbers along the axis", length);
                yield x.rowMajor();
            }
            case FROM_REAL -> {
                in.require((x.dtype() == DType.FLOAT32 || x.dtype() == DType.FLOAT64) && given == length,
                        "x must be float32 or float64, with %d numbers along the axis", length);
                yield TensorSpec.of(x.dtype() == DType.FLOAT32 ? DType.COMPLEX64 : DType.COMPLEX128,
                        x.shape().with(at, half(length)));
            }
            case TO_REAL -> {
                in.require(x.dtype().isComplex() && given >= half(length),
                        "x must be complex, with at least %d numbers along the axis", half(length));
                yield TensorSpec.of(x.dtype().real(), x.shape().with(at, length));
            }
        }};
    }

    @Override
    public List<Split> splits(@Nullable TensorSpec... arguments) {
        TensorSpec out = arguments[arguments.length - 1];
        return out == null ? List.of() : Split.elementwiseBut(out.shape().axis(axis), out.shape(), arguments);
    }
}
