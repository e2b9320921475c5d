package io.seriatim.onnx.operators;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.translate.Ref;
import io.seriatim.onnx.node.Node;
import io.seriatim.onnx.node.Registry;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Levels of quantized numbers, and products of them. */
public final class QuantizationOperators {
    /** The root of a factor with which no positive number stays below 1. */
    private static final float HALFWAY = 0x1p75f;

    private QuantizationOperators() {
    }

    /** Adds the operators. */
    public static void register(Registry operators) {
        operators.one("DequantizeLinear", QuantizationOperators::dequantize);
        operators.one("QuantizeLinear", QuantizationOperators::quantize);
        operators.all("DynamicQuantizeLinear", QuantizationOperators::dynamic);
        operators.one("MatMulInteger", node -> {
            Steps steps = new Steps(node.block());
            return steps.matmul(levels(steps, node.input(0), rows(steps, known(node, 2)), DType.INT32),
                    levels(steps, node.input(1), known(node, 3), DType.INT32), false, false);
        });
        operators.one("ConvInteger", node -> {
            Steps steps = new Steps(node.block());
            return steps.cast(sums(node, steps, node.input(0), node.input(1), known(node, 2), known(node, 3)),
                    DType.INT32);
        });
        operators.one("QLinearConv", QuantizationOperators::convolution);
        operators.one("QLinearMatMul", QuantizationOperators::product);
    }

    private static Ref dequantize(Node node) {
        Steps steps = new Steps(node.block());
        Ref x = node.input(0);
        Ref scale = node.input(1);
        DType dtype = node.dtype("output_dtype", scale.dtype());
        Ref zero = known(node, 2);
        Ref levels = x.rank() > 1 && x.dtype().bytes() == 1
                ? widened(steps, x, DType.FLOAT32)
                : steps.cast(x, DType.FLOAT32);
        if (x.dtype() == DType.INT32) {
            // Differences of levels of 32 bits are whole numbers before they are rounded.
            levels = zero == null ? levels : steps.cast(steps.sub(x, spread(node, steps, zero, x)), DType.FLOAT32);
        } else if (zero != null) {
            levels = steps.sub(levels, spread(node, steps, steps.cast(zero, DType.FLOAT32), x));
        }
        return steps.cast(steps.mul(levels, steps.cast(spread(node, steps, scale, x), DType.FLOAT32)), dtype);
    }

    private static Ref quantize(Node node) {
        Steps steps = new Steps(node.block());
        Ref x = node.input(0);
        Ref zero = node.maybe(2);
        DType levels = zero != null ? zero.dtype() : node.dtype("output_dtype", DType.UINT8);
        DType precision = node.dtype("precision", x.dtype());
        Ref scaled = steps.div(steps.cast(x, precision), steps.cast(spread(node, steps, node.input(1), x), precision));
        return quantized(steps, scaled, zero == null ? null : spread(node, steps, zero, x), levels);
    }

    /** Rounded to the nearest even level, shifted and clipped. */
    private static Ref quantized(Steps steps, Ref scaled, @Nullable Ref zero, DType levels) {
        double least = switch (levels) {
            case INT8 -> Byte.MIN_VALUE;
            case INT16 -> Short.MIN_VALUE;
            case UINT8, UINT16 -> 0;
            default -> throw new IllegalArgumentException("levels of the type " + levels + " are not supported");
        };
        double largest = switch (levels) {
            case INT8 -> Byte.MAX_VALUE;
            case INT16 -> Short.MAX_VALUE;
            case UINT8 -> 255;
            default -> 65535;
        };
        Ref rounded = steps.unary("onnx_round", steps.cast(scaled, Steps.precise(scaled.dtype())));
        Ref shifted = zero == null ? rounded : steps.add(rounded, steps.cast(zero, rounded.dtype()));
        Ref clipped = steps.op("clip").in("X", shifted).attr("min", (float) least).attr("max", (float) largest)
                .out("Out");
        return steps.cast(clipped, levels);
    }

    /** One number, one for each place of an axis, or one for each block of an axis, with the shape of an operand. */
    private static Ref spread(Node node, Steps steps, Ref numbers, Ref x) {
        long block = node.integer("block_size", 0);
        int rank = x.rank();
        if (numbers.rank() == 0 || (numbers.rank() == 1 && numbers.dim(0) == 1 && block == 0)) {
            return numbers.rank() == 0 ? numbers : steps.reshape(numbers);
        }
        int axis = node.axis(node.integer("axis", 1), rank);
        if (block > 0) {
            Ref repeated = steps.op("repeat_interleave").in("X", numbers).attr("Repeats", block).attr("dim", axis)
                    .out("Out");
            return x.dim(axis) < 0 || repeated.dim(axis) == x.dim(axis)
                    ? repeated
                    : steps.slice(repeated, axis, 0, x.dim(axis));
        }
        if (numbers.rank() != 1) {
            throw node.error("scales are one number or one for each place of an axis, but have %d dimensions",
                    numbers.rank());
        }
        int behind = rank - 1 - axis;
        return behind == 0 ? numbers : steps.unsqueeze(numbers, Steps.axesFrom(1, 1 + behind));
    }

    private static List<Ref> dynamic(Node node) {
        Steps steps = new Steps(node.block());
        Ref x = node.input(0);
        Ref zero = steps.scalar(DType.FLOAT32, 0);
        Ref largest = extreme(steps, x, "reduce_max", "elementwise_max", zero);
        Ref least = extreme(steps, x, "reduce_min", "elementwise_min", zero);
        Ref range = steps.div(steps.sub(largest, least), steps.scalar(DType.FLOAT32, 255));
        Ref scale = steps.add(range, isZero(steps, range));
        Ref point = quantized(steps, steps.div(steps.sub(zero, least), scale), null, DType.UINT8);
        return List.of(quantized(steps, steps.div(x, scale), point, DType.UINT8), scale, point);
    }

    /**
     * 1 for 0 and 0 for all greater numbers, by functions that run in one kernel with those around them: times 2¹⁵⁰,
     * the least positive number is above 1.
     */
    private static Ref isZero(Steps steps, Ref range) {
        Ref large = steps.linear(steps.linear(range, HALFWAY, 0), HALFWAY, 0);
        Ref most = steps.op("clip").in("X", large).attr("min", 0f).attr("max", 1f).out("Out");
        return steps.linear(most, -1, 1);
    }

    private static Ref extreme(Steps steps, Ref x, String reduction, String with, Ref zero) {
        Ref all = steps.op(reduction).in("X", x).attr("reduce_all", true).attr("keep_dim", false).out("Out");
        return steps.block().binary(with, steps.reshape(all), zero);
    }

    /** The zero points of the rows of a left matrix, as a column. */
    private static @Nullable Ref rows(Steps steps, @Nullable Ref zero) {
        return zero == null || zero.rank() != 1 || zero.dim(0) == 1 ? zero : steps.unsqueeze(zero, 1);
    }

    /** A zero point; null if it is left out or known to be 0. */
    private static @Nullable Ref known(Node node, int index) {
        Tensor value = node.value(index);
        return value != null && Arrays.stream(value.toLongArray()).allMatch(zero -> zero == 0)
                ? null
                : node.maybe(index);
    }

    /** Levels less their zero points, exactly. */
    private static Ref levels(Steps steps, Ref x, @Nullable Ref zero, DType dtype) {
        Ref levels = widened(steps, x, dtype);
        return zero == null ? levels : steps.sub(levels, steps.cast(zero, dtype));
    }

    /** A cast in the program, of constants too: what multiplies levels of 8 bits needs to see that they are. */
    private static Ref widened(Steps steps, Ref x, DType dtype) {
        if (x.dtype() == dtype) {
            return x;
        }
        Ref wide = steps.block().declare(ArgType.dense(dtype, x.dims()));
        steps.op("cast").in("X", x).attr("in_dtype", x.dtype()).attr("out_dtype", dtype).to("Out", wide).append();
        return wide;
    }

    /** Sums of products of a convolution; float64 holds whole numbers of more than 32 bits exactly. */
    private static Ref sums(Node node, Steps steps, Ref x, Ref w, @Nullable Ref xZero, @Nullable Ref wZero) {
        Ref perFilter = wZero == null || wZero.rank() != 1 || wZero.dim(0) == 1
                ? wZero
                : steps.unsqueeze(wZero, Steps.axesFrom(1, w.rank()));
        return ConvolutionOperators.convolution(node, levels(steps, x, xZero, DType.FLOAT64),
                levels(steps, w, perFilter, DType.FLOAT64), null);
    }

    private static Ref convolution(Node node) {
        Steps steps = new Steps(node.block());
        Ref x = node.input(0);
        Ref sums = steps.cast(sums(node, steps, x, node.input(3), known(node, 2), known(node, 5)), DType.INT32);
        Ref bias = node.maybe(8);
        if (bias != null) {
            sums = steps.add(sums, steps.perChannel(steps.cast(bias, DType.INT32), x.rank()));
        }
        Ref scales = steps.mul(node.input(1), node.input(4));
        Ref factor = steps.div(scales, node.input(6));
        Ref perChannel = factor.rank() == 1 && factor.dim(0) != 1
                ? steps.perChannel(factor, x.rank())
                : steps.reshape(factor);
        Ref scaled = steps.mul(steps.cast(sums, DType.FLOAT32), perChannel);
        return quantized(steps, scaled, node.input(7), node.input(7).dtype());
    }

    private static Ref product(Node node) {
        Steps steps = new Steps(node.block());
        Ref sums = steps.matmul(levels(steps, node.input(0), rows(steps, known(node, 2)), DType.INT32),
                levels(steps, node.input(3), known(node, 5), DType.INT32), false, false);
        Ref left = rows(steps, node.input(1));
        Ref scales = steps.mul(left == null ? node.input(1) : left, node.input(4));
        Ref factor = steps.cast(steps.div(scales, node.input(6)), DType.FLOAT32);
        return quantized(steps, steps.mul(steps.cast(sums, DType.FLOAT32), factor), node.input(7),
                node.input(7).dtype());
    }
}
