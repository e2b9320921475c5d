package io.seriatim.mxnet.translate;

import io.seriatim.graph.program.DataTypes;
import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;

/** Paddle's operations that many translators append, each with its result as a name. */
final class Ops {
    /** Functions whose results of whole numbers need no other type. */
    private static final Set<String> OF_WHOLE = Set.of("abs", "sign", "ceil", "floor", "trunc", "square", "relu",
            "isnan_v2", "isinf_v2", "isfinite_v2");

    private final BlockWriter writer;

    Ops(BlockWriter writer) {
        this.writer = writer;
    }

    OpWriter op(String type) {
        return writer.op(type);
    }

    String unary(String type, String x) {
        return OF_WHOLE.contains(type)
                ? op(type).in("X", x).one("Out")
                : real(x, each -> op(type).in("X", each).one("Out"));
    }

    /** MXNet computes functions of whole numbers with float64, and drops the fraction of the result. */
    String real(String x, UnaryOperator<String> function) {
        DType dtype = writer.dtype(x);
        return dtype.isFloating() ? function.apply(x) : cast(function.apply(cast(x, DType.FLOAT64)), dtype);
    }

    String binary(String type, String x, String y) {
        return op(type).in("X", x).in("Y", y).one("Out");
    }

    /** x·factor + bias. The attributes of Paddle's scale are float32, too coarse for some numbers of wider types. */
    String scale(String x, double factor, double bias) {
        DType dtype = writer.dtype(x);
        if (!isExact(dtype, factor) || !isExact(dtype, bias)) {
            String product = factor == 1 ? x : binary("elementwise_mul", x, constant(dtype, factor, 1));
            return bias == 0 ? product : binary("elementwise_add", product, constant(dtype, bias, 1));
        }
        return op("scale").in("X", x).attr("scale", (float) factor).attr("bias", (float) bias).one("Out");
    }

    String power(String x, double exponent) {
        DType dtype = writer.dtype(x);
        return isExact(dtype, exponent)
                ? op("pow").in("X", x).attr("factor", (float) exponent).one("Out")
                : binary("elementwise_pow", x, constant(dtype, exponent, 1));
    }

    /** Whether a float32 holds a number as well as a type does. */
    static boolean isExact(DType dtype, double number) {
        return (dtype.isFloating() && dtype != DType.FLOAT64) || Double.compare((float) number, number) == 0;
    }

    /** A tensor of equal elements like another. */
    String filledLike(String x, double value) {
        return isExact(writer.dtype(x), value)
                ? op("fill_any_like").in("X", x).attr("value", (float) value).one("Out")
                : broadcastLike(constant(writer.dtype(x), value, 1), x);
    }

    /** A tensor of equal elements. */
    String constant(DType dtype, double value, long... dims) {
        String text = dtype.isFloating() || value != Math.rint(value)
                ? Double.toString(value)
                : Long.toString((long) value);
        return op("fill_constant").attr("dtype", DataTypes.number(dtype)).attr("shape", dims)
                .attr("value", (float) value).attr("str_value", named(text)).one("Out");
    }

    /** Not finite numbers as Paddle writes them. */
    private static String named(String text) {
        return switch (text) {
            case "Infinity" -> "inf";
            case "-Infinity" -> "-inf";
            case "NaN" -> "nan";
            default -> text;
        };
    }

    /** A tensor of whole numbers. */
    String constant(DType dtype, long[] values, long... dims) {
        OpWriter op = op("assign_value").attr("dtype", DataTypes.number(dtype))
                .attr("shape", Arrays.stream(dims).mapToInt(Math::toIntExact).toArray());
        return (dtype == DType.INT64
                ? op.attr("int64_values", values)
                : op.attr("int32_values", Arrays.stream(values).mapToInt(Math::toIntExact).toArray())).one("Out");
    }

    String cast(String x, DType dtype) {
        return writer.dtype(x) == dtype
                ? x
                : op("cast").in("X", x).attr("in_dtype", DataTypes.number(writer.dtype(x)))
                        .attr("out_dtype", DataTypes.number(dtype)).one("Out");
    }

    String reshape(String x, long... dims) {
        return op("reshape2").in("X", x).attr("shape", ints(dims)).one("Out");
    }

    /** With the dimensions that another tensor holds. */
    String reshape(String x, String dims) {
        return op("reshape2").in("X", x).in("Shape", dims).attr("shape", new int[0]).one("Out");
    }

    String transpose(String x, int... axes) {
        for (int i = 0; i < axes.length; i++) {
            if (axes[i] != i) {
                return op("transpose2").in("X", x).attr("axis", axes).one("Out");
            }
        }
        return x;
    }

    String unsqueeze(String x, int... axes) {
        return axes.length == 0 ? x : op("unsqueeze2").in("X", x).attr("axes", axes).one("Out");
    }

    String squeeze(String x, int... axes) {
        return axes.length == 0 ? x : op("squeeze2").in("X", x).attr("axes", axes).one("Out");
    }

    String flatten(String x, int from, int to) {
        return op("flatten_contiguous_range").in("X", x).attr("start_axis", from).attr("stop_axis", to).one("Out");
    }

    String concat(int axis, List<String> parts) {
        return parts.size() == 1 ? parts.getFirst() : op("concat").in("X", parts).attr("axis", axis).one("Out");
    }

    /** A range of an axis; the end may exceed the axis. */
    String slice(String x, int axis, long from, long to) {
        return op("slice").in("Input", x).attr("axes", new int[]{axis}).attr("starts", ints(from))
                .attr("ends", ints(to)).one("Out");
    }

    /** One place of an axis, which is dropped. */
    String select(String x, int axis, long at) {
        return op("slice").in("Input", x).attr("axes", new int[]{axis}).attr("starts", ints(at))
                .attr("ends", ints(at == -1 ? Integer.MAX_VALUE : at + 1)).attr("decrease_axis", new int[]{axis})
                .one("Out");
    }

    /** Equal parts along an axis. */
    List<String> split(String x, int axis, int parts) {
        return op("split").in("X", x).attr("num", parts).attr("axis", axis).list("Out", parts);
    }

    /** A reduction. Its result has the type of its operand, where Paddle gives sums of int32 64 bits. */
    String reduce(String type, String x, boolean keep, int... axes) {
        OpWriter op = op(type).in("X", x).attr("keep_dim", keep);
        if (type.equals("reduce_sum") && writer.dtype(x) == DType.INT32) {
            op.attr("out_dtype", DataTypes.number(DType.INT32));
        }
        return (axes.length == 0
                ? op.attr("reduce_all", true).attr("dim", new int[]{0})
                : op.attr("dim", axes)).one("Out");
    }

    String matmul(String x, String y, boolean transposeX, boolean transposeY) {
        return op("matmul_v2").in("X", x).in("Y", y).attr("trans_x", transposeX).attr("trans_y", transposeY)
                .one("Out");
    }

    /** The dimensions as a tensor of int32. */
    String shape(String x) {
        return op("shape").in("Input", x).one("Out");
    }

    /** The whole numbers below the length of an axis. */
    String indexes(String x, int axis, DType dtype) {
        String length = slice(shape(x), 0, axis, axis + 1L);
        return op("range").in("Start", constant(dtype, 0, 1)).in("End", cast(length, dtype))
                .in("Step", constant(dtype, 1, 1)).one("Out");
    }

    /** The result of a comparison, as MXNet has it: 0 or 1 of the operands' type. */
    String truth(String comparison, String x, String y) {
        return cast(binary(comparison, x, y), writer.dtype(x));
    }

    String where(String condition, String x, String y) {
        return op("where").in("Condition", condition).in("X", x).in("Y", y).one("Out");
    }

    String broadcast(String x, String shape) {
        return op("expand_v2").in("X", x).in("Shape", shape).attr("shape", new int[0]).one("Out");
    }

    String broadcastLike(String x, String other) {
        return op("expand_as_v2").in("X", x).in("Y", other).one("Out");
    }

    static int[] ints(long... values) {
        return Arrays.stream(values)
                .mapToInt(value -> (int) Math.max(Integer.MIN_VALUE, Math.min(Integer.MAX_VALUE, value))).toArray();
    }

    /** The numbers from one to another, which is left out. */
    static int[] range(int from, int to) {
        int[] all = new int[Math.max(0, to - from)];
        Arrays.setAll(all, i -> from + i);
        return all;
    }

    /** The axes in an order in which one has moved to another place. */
    static int[] moved(int rank, int from, int to) {
        List<Integer> axes = new ArrayList<>();
        for (int i = 0; i < rank; i++) {
            if (i != from) {
                axes.add(i);
            }
        }
        axes.add(to, from);
        return axes.stream().mapToInt(Integer::intValue).toArray();
    }
}
