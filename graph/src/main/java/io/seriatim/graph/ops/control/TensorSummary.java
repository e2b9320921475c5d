package io.seriatim.graph.ops.control;

import io.seriatim.graph.util.Printable;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Arrays;
import java.util.function.LongFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** The value of a variable as Paddle prints it. */
final class TensorSummary {
    private static final int DIGITS = 6;

    private TensorSummary() {
    }

    /**
     * The first values.
     *
     * @param most
     *            how many; all if negative
     */
    static String data(Tensor tensor, long most) {
        long size = tensor.shape().size();
        Tensor first = tensor.reshape(size).slice(0, 0, most < 0 ? size : Math.min(most, size));
        if (tensor.dtype().isComplex()) {
            return IntStream.range(0, Math.toIntExact(first.shape().size()))
                    .mapToObj(i -> complex(first.slice(0, i, i + 1)))
                    .collect(Collectors.joining(" ", "[", "]"));
        }
        if (tensor.dtype().isFloating()) {
            return Arrays.stream(first.toDoubleArray()).mapToObj(TensorSummary::number)
                    .collect(Collectors.joining(" ", "[", "]"));
        }
        LongFunction<String> text = tensor.dtype() == DType.UINT64 ? Long::toUnsignedString : Long::toString;
        return Arrays.stream(first.toLongArray()).mapToObj(text).collect(Collectors.joining(" ", "[", "]"));
    }

    private static String complex(Tensor element) {
        double[] parts = element.asReal().toDoubleArray();
        String imaginary = number(parts[1]);
        return "(" + number(parts[0]) + (imaginary.startsWith("-") ? "" : "+") + imaginary + "j)";
    }

    static String shape(Tensor tensor) {
        return IntStream.range(0, tensor.shape().rank()).mapToObj(axis -> Long.toString(tensor.shape().dim(axis)))
                .collect(Collectors.joining(", ", "[", "]"));
    }

    /** The tensor's name, shape, element type and data. */
    static String of(String name, Tensor tensor, long most) {
        return "Variable: " + Printable.of(name) + "\n  - shape: " + shape(tensor) + "\n  - dtype: " + tensor.dtype()
                + "\n  - data: "
                + data(tensor, most)
                + "\n";
    }

    /** Six digits, and an exponent where a number is very small or large: as C++ streams write it. */
    static String number(double value) {
        if (Double.isNaN(value)) {
            return "nan";
        } else if (Double.isInfinite(value)) {
            return value > 0 ? "inf" : "-inf";
        } else if (value == 0) {
            return 1 / value < 0 ? "-0" : "0";
        }
        BigDecimal rounded = new BigDecimal(value).round(new MathContext(DIGITS)).stripTrailingZeros();
        int exponent = rounded.precision() - rounded.scale() - 1;
        if (exponent >= -4 && exponent < DIGITS) {
            return rounded.toPlainString();
        }
        String power = (exponent < 0 ? "e-" : "e+") + (Math.abs(exponent) < 10 ? "0" : "") + Math.abs(exponent);
        return rounded.movePointLeft(exponent).toPlainString() + power;
    }
}
