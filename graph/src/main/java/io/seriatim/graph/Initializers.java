package io.seriatim.graph;

import io.seriatim.graph.program.DataTypes;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Arrays;

/** The operations of initializers. */
final class Initializers {
    private Initializers() {
    }

    static OpDesc operation(Initializer initializer, String name, DType dtype, long[] shape, int seed) {
        double in = fan(shape, true);
        double out = fan(shape, false);
        return switch (initializer) {
            case Initializer.Constant(double value) -> constant(name, dtype, shape, value);
            case Initializer.Uniform(double low, double high) -> uniform(name, dtype, shape, low, high, seed);
            case Initializer.Normal(double mean, double deviation) -> normal(name, dtype, shape, mean, deviation, seed);
            case Initializer.TruncatedNormal(double mean, double deviation) ->
                OpDesc.of("truncated_gaussian_random").out("Out", name).attr("shape", ints(shape))
                        .attr("mean", (float) mean)
                        .attr("std", (float) deviation).attr("seed", seed).attr("dtype", DataTypes.number(dtype))
                        .build();
            case Initializer.Xavier(boolean even) -> even
                    ? within(name, dtype, shape, Math.sqrt(6 / (in + out)), seed)
                    : normal(name, dtype, shape, 0, Math.sqrt(2 / (in + out)), seed);
            case Initializer.Kaiming(boolean even, double slope) -> {
                double gain = Math.sqrt(2 / (1 + slope * slope));
                yield even
                        ? within(name, dtype, shape, gain * Math.sqrt(3 / in), seed)
                        : normal(name, dtype, shape, 0, gain / Math.sqrt(in), seed);
            }
            case Initializer.Assign(Tensor values) -> assign(name, dtype, shape, values);
        };
    }

    static OpDesc constant(String name, DType dtype, long[] shape, double value) {
        return OpDesc.of("fill_constant").out("Out", name).attr("shape", shape).attr("dtype", DataTypes.number(dtype))
                .attr("value", (float) value).attr("str_value", text(value)).attr("force_cpu", false)
                .attr("place_type", -1).build();
    }

    private static OpDesc within(String name, DType dtype, long[] shape, double bound, int seed) {
        return uniform(name, dtype, shape, -bound, bound, seed);
    }

    private static OpDesc uniform(String name, DType dtype, long[] shape, double low, double high, int seed) {
        return OpDesc.of("uniform_random").in("ShapeTensor").in("ShapeTensorList").out("Out", name).attr("shape", shape)
                .attr("dtype", DataTypes.number(dtype)).attr("min", (float) low).attr("max", (float) high)
                .attr("seed", seed).build();
    }

    private static OpDesc normal(String name, DType dtype, long[] shape, double mean, double deviation, int seed) {
        return OpDesc.of("gaussian_random").in("ShapeTensor").in("ShapeTensorList").out("Out", name)
                .attr("shape", shape)
                .attr("dtype", DataTypes.number(dtype)).attr("mean", (float) mean).attr("std", (float) deviation)
                .attr("seed", seed)
                .build();
    }

    private static OpDesc assign(String name, DType dtype, long[] shape, Tensor values) {
        if (values.dtype() != dtype || !Arrays.equals(values.shape().dims(), shape)) {
            throw new IllegalArgumentException(
                    "Parameter '" + name + "' is " + dtype + Arrays.toString(shape) + ", but is to be set to "
                            + values.spec());
        }
        OpDesc.Builder op = OpDesc.of("assign_value").out("Out", name).attr("shape", ints(shape)).attr("dtype",
                DataTypes.number(dtype));
        return switch (dtype) {
            case FLOAT32 -> op.attr("fp32_values", values.toFloatArray()).build();
            case FLOAT64 -> op.attr("fp64_values", values.toDoubleArray()).build();
            case INT64 -> op.attr("int64_values", values.toLongArray()).build();
            case INT32 -> op.attr("int32_values", ints(values.toLongArray())).build();
            case BOOL -> op.attr("bool_values", ints(values.toLongArray())).build();
            default -> throw new IllegalArgumentException("'" + name + "' is " + dtype
                    + ", but only float32, float64, int32, int64 and bool can be set to given values; give one of "
                    + "those, and cast it");
        };
    }

    private static int[] ints(long[] values) {
        return Arrays.stream(values).mapToInt(Math::toIntExact).toArray();
    }

    /**
     * Of [a, b] the fans are a and b; with a kernel [o, i, k…] they are i·Πk and o·Πk; of one dimension both are its
     * length.
     */
    private static double fan(long[] shape, boolean in) {
        if (shape.length < 2) {
            return shape.length == 0 ? 1 : shape[0];
        }
        if (shape.length == 2) {
            return shape[in ? 0 : 1];
        }
        long field = Arrays.stream(shape).skip(2).reduce(1, Math::multiplyExact);
        return (double) shape[in ? 1 : 0] * field;
    }

    /** A number as Python writes it, since Paddle reads it from a text. */
    static String text(double value) {
        if (Double.isNaN(value) || Double.isInfinite(value)) {
            return Double.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
        }
        if (value == 0) {
            return 1 / value < 0 ? "-0.0" : "0.0";
        }
        BigDecimal digits = shortest(value);
        int exponent = digits.precision() - digits.scale() - 1;
        if (exponent >= -4 && exponent < 16) {
            String plain = digits.toPlainString();
            return plain.contains(".") ? plain : plain + ".0";
        }
        String mantissa = digits.movePointLeft(exponent).stripTrailingZeros().toPlainString();
        return mantissa + "e" + (exponent < 0 ? "-" : "+") + (Math.abs(exponent) < 10 ? "0" : "") + Math.abs(exponent);
    }

    /** The fewest digits that read back as the number. Java writes at least two. */
    private static BigDecimal shortest(double value) {
        BigDecimal digits = new BigDecimal(Double.toString(value));
        BigDecimal single = digits.round(new MathContext(1));
        return (single.doubleValue() == value ? single : digits).stripTrailingZeros();
    }
}
