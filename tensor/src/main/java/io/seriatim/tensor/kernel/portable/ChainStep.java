package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.Bytes;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Halves;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Chain;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.UnaryGrad;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.portable.function.BinaryFunctions;
import io.seriatim.tensor.kernel.portable.function.FloatLoops;
import io.seriatim.tensor.kernel.portable.function.IntLoops;
import io.seriatim.tensor.kernel.portable.function.Quantization;
import io.seriatim.tensor.kernel.portable.function.UnaryFunctions;

/**
 * One step of a chain, from arrays of a context to another: float64 in double, int32 in int, all else in float, rounded
 * to its type.
 */
@FunctionalInterface
interface ChainStep {
    void run(KernelContext context, int count);

    /** The step whose result is a value, given the type and the array of each value. */
    static ChainStep of(Chain.Step step, int result, DType[] dtypes, int[] slots) {
        int out = slots[result];
        ChainStep exact = switch (step) {
            case Chain.Apply(var function, var x) -> apply(function, dtypes[x], dtypes[result], slots[x], out);
            case Chain.Combine(var function, var x, var y) ->
                combine(function, dtypes[x], dtypes[result], slots[x], slots[y], out);
            case Chain.Grad(var gradient, var x, var y, var dy) -> {
                boolean hasX = x != Chain.ABSENT;
                boolean hasY = y != Chain.ABSENT;
                yield grad(gradient, dtypes[dy], hasX, hasY, hasX ? slots[x] : slots[dy], hasY ? slots[y] : slots[dy],
                        slots[dy], out);
            }
            case Chain.Cast(var to, var x) -> cast(dtypes[x], to, slots[x], out);
            case Chain.Select(var condition, var x, var y) ->
                select(dtypes[result], slots[condition], slots[x], slots[y], out);
        };
        return switch (dtypes[result]) {
            case BFLOAT16 -> (context, count) -> {
                exact.run(context, count);
                Halves.round(context.floats(out), count);
            };
            case FLOAT16 -> (context, count) -> {
                exact.run(context, count);
                roundToFloat16(context.floats(out), count);
            };
            default -> exact;
        };
    }

    /** The steps of a quantization as one, whose result is a value. */
    static ChainStep of(Quantization quantization, int result, int[] slots) {
        int x = slots[quantization.x()];
        int divisor = quantization.divisor() == Chain.ABSENT ? Chain.ABSENT : slots[quantization.divisor()];
        int zero = quantization.zero() == Chain.ABSENT ? Chain.ABSENT : slots[quantization.zero()];
        int out = slots[result];
        return (context, count) -> quantization.run(context.floats(x),
                divisor == Chain.ABSENT ? null : context.floats(divisor),
                zero == Chain.ABSENT ? 0 : context.floats(zero)[0], context.floats(out), count);
    }

    private static ChainStep apply(Unary unary, DType from, DType to, int x, int out) {
        Unary.Function function = unary.function();
        float alpha = unary.alpha();
        float beta = unary.beta();
        if (from != DType.FLOAT64) {
            return (context, count) -> FloatLoops.unary(function, alpha, beta, context.floats(x), context.floats(out),
                    count);
        }
        if (to != DType.FLOAT64) {
            return (context, count) -> {
                double[] values = context.doubles(x);
                float[] tests = context.floats(out);
                for (int i = 0; i < count; i++) {
                    tests[i] = (float) UnaryFunctions.apply(function, values[i], alpha, beta);
                }
            };
        }
        return (context, count) -> {
            double[] values = context.doubles(x);
            double[] results = context.doubles(out);
            for (int i = 0; i < count; i++) {
                results[i] = UnaryFunctions.apply(function, values[i], alpha, beta);
            }
        };
    }

    private static ChainStep combine(Binary.Function function, DType from, DType to, int x, int y, int out) {
        if (from == DType.INT32) {
            return (context, count) -> IntLoops.combine(function, context.ints(x), context.ints(y), context.ints(out),
                    count);
        }
        if (from != DType.FLOAT64) {
            return (context, count) -> FloatLoops.binary(function, context.floats(x), context.floats(y),
                    context.floats(out), count);
        }
        if (to != DType.FLOAT64) {
            return (context, count) -> {
                double[] left = context.doubles(x);
                double[] right = context.doubles(y);
                float[] tests = context.floats(out);
                for (int i = 0; i < count; i++) {
                    tests[i] = (float) BinaryFunctions.apply(function, left[i], right[i]);
                }
            };
        }
        return (context, count) -> {
            double[] left = context.doubles(x);
            double[] right = context.doubles(y);
            double[] results = context.doubles(out);
            for (int i = 0; i < count; i++) {
                results[i] = BinaryFunctions.apply(function, left[i], right[i]);
            }
        };
    }

    private static ChainStep grad(UnaryGrad grad, DType dtype, boolean hasX, boolean hasY, int x, int y, int dy,
            int out) {
        if (dtype != DType.FLOAT64) {
            return (context, count) -> PortableElementwise.grad(grad, hasX, hasY, context.floats(x), context.floats(y),
                    context.floats(dy),
                    context.floats(out), count);
        }
        return (context, count) -> PortableElementwise.grad(grad, hasX, hasY, context.doubles(x), context.doubles(y),
                context.doubles(dy),
                context.doubles(out), count);
    }

    private static ChainStep cast(DType from, DType to, int x, int out) {
        if (from == DType.INT32) {
            return (context, count) -> IntLoops.toFloats(context.ints(x), context.floats(out), count);
        }
        if (to == DType.INT32) {
            return (context, count) -> IntLoops.toInts(context.floats(x), context.ints(out), count);
        }
        if (from == DType.FLOAT64 && to == DType.FLOAT64) {
            return (context, count) -> System.arraycopy(context.doubles(x), 0, context.doubles(out), 0, count);
        }
        if (from == DType.FLOAT64) {
            return (context, count) -> {
                double[] values = context.doubles(x);
                float[] results = context.floats(out);
                for (int i = 0; i < count; i++) {
                    results[i] = (float) values[i];
                }
            };
        }
        if (to == DType.FLOAT64) {
            return (context, count) -> {
                float[] values = context.floats(x);
                double[] results = context.doubles(out);
                for (int i = 0; i < count; i++) {
                    results[i] = values[i];
                }
            };
        }
        if (!to.isFloating()) {
            boolean signed = to == DType.INT8;
            return (context, count) -> Bytes.cast(signed, context.floats(x), context.floats(out), count);
        }
        return (context, count) -> System.arraycopy(context.floats(x), 0, context.floats(out), 0, count);
    }

    private static ChainStep select(DType dtype, int condition, int x, int y, int out) {
        if (dtype != DType.FLOAT64) {
            return (context, count) -> FloatLoops.select(context.floats(condition), context.floats(x),
                    context.floats(y), context.floats(out), count);
        }
        return (context, count) -> {
            float[] holds = context.floats(condition);
            double[] left = context.doubles(x);
            double[] right = context.doubles(y);
            double[] results = context.doubles(out);
            for (int i = 0; i < count; i++) {
                results[i] = holds[i] != 0 ? left[i] : right[i];
            }
        };
    }

    private static void roundToFloat16(float[] values, int count) {
        for (int i = 0; i < count; i++) {
            values[i] = Float.float16ToFloat(Float.floatToFloat16(values[i]));
        }
    }
}
