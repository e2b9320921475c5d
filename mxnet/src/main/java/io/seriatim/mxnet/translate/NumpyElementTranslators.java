package io.seriatim.mxnet.translate;

import io.seriatim.tensor.DType;
import java.util.Map;
import java.util.Set;

/**
 * Functions of single elements as {@code mx.np} has them: comparisons give bool, and operands of two types the wider of
 * them. Functions of whole numbers give whole numbers, as in version 1.9.
 */
final class NumpyElementTranslators {
    private static final Map<String, String> SAME = Map.ofEntries(Map.entry("absolute", "abs"),
            Map.entry("abs", "abs"), Map.entry("sign", "sign"), Map.entry("ceil", "ceil"),
            Map.entry("floor", "floor"), Map.entry("trunc", "trunc"), Map.entry("fix", "trunc"),
            Map.entry("square", "square"), Map.entry("sqrt", "sqrt"), Map.entry("exp", "exp"),
            Map.entry("expm1", "expm1"), Map.entry("log", "log"), Map.entry("log2", "log2"),
            Map.entry("log10", "log10"), Map.entry("log1p", "log1p"), Map.entry("reciprocal", "reciprocal"),
            Map.entry("sin", "sin"), Map.entry("cos", "cos"), Map.entry("tan", "tan"), Map.entry("arcsin", "asin"),
            Map.entry("arccos", "acos"), Map.entry("arctan", "atan"), Map.entry("sinh", "sinh"),
            Map.entry("cosh", "cosh"), Map.entry("tanh", "tanh"), Map.entry("arcsinh", "asinh"),
            Map.entry("arccosh", "acosh"), Map.entry("arctanh", "atanh"));
    private static final Map<String, String> ARITHMETIC = Map.of("add", "elementwise_add", "subtract",
            "elementwise_sub", "multiply", "elementwise_mul", "power", "elementwise_pow");
    private static final Map<String, String> COMPARISONS = Map.of("equal", "equal", "not_equal", "not_equal",
            "greater", "greater_than", "greater_equal", "greater_equal", "less", "less_than", "less_equal",
            "less_equal");

    private NumpyElementTranslators() {
    }

    /** A function of two variables of one type. */
    private interface Function {
        String of(Ops ops, String x, String y);
    }

    static void register(Translators table) {
        SAME.forEach((name, type) -> table.one(node -> node.ops().unary(type, node.in(0)), "_npi_" + name));
        table.one(node -> node.ops().scale(node.in(0), -1, 0), "_npi_negative");
        table.one(UnaryTranslators::towardsLower, "_npi_rint");
        table.one(node -> node.ops().real(node.in(0), x -> UnaryTranslators.signedPower(node, x, 1 / 3d)),
                "_npi_cbrt");
        table.one(node -> node.ops().real(node.in(0), x -> node.ops().scale(x, (float) Math.PI / 180, 0)),
                "_npi_radians");
        table.one(node -> node.ops().real(node.in(0), x -> node.ops().scale(x, 180 / (float) Math.PI, 0)),
                "_npi_degrees");
        table.one(node -> node.op("logical_not").in("X", BinaryTranslators.isTrue(node, node.in(0))).one("Out"),
                "_npi_logical_not");
        table.one(node -> node.ops().unary("isnan_v2", node.in(0)), "_npi_isnan");
        table.one(node -> node.ops().unary("isinf_v2", node.in(0)), "_npi_isinf");
        table.one(node -> node.ops().unary("isfinite_v2", node.in(0)), "_npi_isfinite");
        table.one(NumpyElementTranslators::rounded, "_npi_around");
        table.one(node -> node.ops().unary("relu", node.in(0)), "_npx_relu");
        table.one(node -> node.ops().unary("sigmoid", node.in(0)), "_npx_sigmoid");
        table.one(node -> node.in(0), "_np_copy", "_npi_share_memory");
        table.one(NumpyElementTranslators::finite, "_npi_nan_to_num");
        ARITHMETIC.forEach((name, type) -> both(table, name, (ops, x, y) -> ops.binary(type, x, y)));
        both(table, "mod", NumpyElementTranslators::remainder);
        both(table, "ldexp", (ops, x, y) -> ops.binary("elementwise_mul", x, ops.binary("elementwise_pow",
                ops.filledLike(y, 2), y)));
        both(table, "hypot", (ops, x, y) -> ops.unary("sqrt", ops.binary("elementwise_add", ops.unary("square", x),
                ops.unary("square", y))));
        both(table, "arctan2", NumpyElementTranslators::angle);
        both(table, "copysign", NumpyElementTranslators::signed);
        both(table, "true_divide", (ops, x, y) -> ops.binary("elementwise_div", x, y));
        reversed(table, "subtract", (ops, x, y) -> ops.binary("elementwise_sub", x, y));
        reversed(table, "true_divide", (ops, x, y) -> ops.binary("elementwise_div", x, y));
        reversed(table, "mod", NumpyElementTranslators::remainder);
        reversed(table, "power", (ops, x, y) -> ops.binary("elementwise_pow", x, y));
        COMPARISONS.forEach((name, type) -> {
            Function function = (ops, x, y) -> ops.binary(type, x, y);
            table.one(node -> pair(node, function, false), "_npi_" + name);
            table.one(node -> compared(node, function), "_npi_" + name + "_scalar");
        });
        for (String name : Set.of("and", "or", "xor")) {
            both(table, "bitwise_" + name, (ops, x, y) -> ops.binary("bitwise_" + name, x, y));
        }
        table.one(node -> node.op("bitwise_not").in("X", node.in(0)).one("Out"), "_npi_bitwise_not");
    }

    private static void both(Translators table, String name, Function function) {
        boolean divides = name.equals("true_divide");
        table.one(node -> pair(node, function, divides), "_npi_" + name);
        table.one(node -> number(node, function, divides), "_npi_" + name + "_scalar");
    }

    /** Of a number and a variable. */
    private static void reversed(Translators table, String name, Function function) {
        table.one(node -> number(node, (ops, x, y) -> function.of(ops, y, x), name.equals("true_divide")),
                "_npi_r" + name + "_scalar");
    }

    private static String pair(NodeInputs node, Function function, boolean divides) {
        Ops ops = node.ops();
        DType common = common(node.dtype(node.in(0)), node.dtype(node.in(1)));
        DType dtype = divides && !common.isFloating() ? DType.FLOAT32 : common;
        return function.of(ops, ops.cast(node.in(0), dtype), ops.cast(node.in(1), dtype));
    }

    /** The type of a result of operands of two types. */
    static DType common(DType one, DType other) {
        if (one.isFloating() != other.isFloating()) {
            return one.isFloating() ? one : other;
        }
        return one.bytes() >= other.bytes() && one != DType.BOOL ? one : other;
    }

    /** With a number. Whole numbers with one that is not, or is written as such, give float64. */
    private static String number(NodeInputs node, Function function, boolean divides) {
        Ops ops = node.ops();
        double number = node.attributes().real("scalar", 1);
        DType given = node.dtype(node.in(0));
        DType dtype = given;
        if (!given.isFloating()) {
            DType whole = given == DType.BOOL ? DType.INT64 : given;
            boolean isWhole = node.attributes().flag("is_int", true) && number == Math.rint(number);
            dtype = divides ? DType.FLOAT32 : isWhole ? whole : DType.FLOAT64;
        }
        return function.of(ops, ops.cast(node.in(0), dtype), ops.constant(dtype, number, 1));
    }

    private static String compared(NodeInputs node, Function function) {
        Ops ops = node.ops();
        DType given = node.dtype(node.in(0));
        DType dtype = given.isFloating() ? given : DType.FLOAT64;
        return function.of(ops, ops.cast(node.in(0), dtype),
                ops.constant(dtype, node.attributes().real("scalar", 1), 1));
    }

    /** To so many digits behind the point, halves to the even neighbour. */
    private static String rounded(NodeInputs node) {
        Ops ops = node.ops();
        double factor = Math.pow(10, node.attributes().integer("decimals", 0));
        return ops.real(node.in(0), each -> {
            String x = ops.scale(each, factor, 0);
            DType dtype = node.dtype(each);
            String floor = ops.unary("floor", x);
            String rest = ops.binary("elementwise_sub", x, floor);
            String half = ops.constant(dtype, 0.5, 1);
            String isOdd =
                    ops.binary("not_equal", floor, ops.scale(ops.unary("floor", ops.scale(floor, 0.5, 0)), 2, 0));
            String isHalf = ops.binary("logical_and", ops.binary("equal", rest, half), isOdd);
            String isAbove = ops.binary("logical_or", ops.binary("greater_than", rest, half), isHalf);
            String whole = ops.binary("elementwise_add", floor, ops.cast(isAbove, dtype));
            return factor == 1 ? whole : ops.binary("elementwise_div", whole, ops.constant(dtype, factor, 1));
        });
    }

    /** With the sign of the divisor; 0 where that is 0. */
    private static String remainder(Ops ops, String x, String y) {
        String isZero = ops.truth("equal", y, ops.filledLike(y, 0));
        String remainder = ops.binary("elementwise_mod", x, ops.binary("elementwise_add", y, isZero));
        return ops.binary("elementwise_mul", remainder, ops.scale(isZero, -1, 1));
    }

    /** The angle of points. Paddle's operation does not broadcast. */
    private static String angle(Ops ops, String y, String x) {
        String like = ops.binary("elementwise_add", y, x);
        return ops.op("atan2").in("X1", ops.broadcastLike(y, like)).in("X2", ops.broadcastLike(x, like)).one("Out");
    }

    /** The size of one with the sign of the other; −0 has one too. */
    private static String signed(Ops ops, String x, String y) {
        String size = ops.unary("abs", x);
        String zero = ops.filledLike(y, 0);
        String isBelow = ops.binary("logical_or", ops.binary("less_than", y, zero),
                ops.binary("less_than", ops.unary("reciprocal", y), zero));
        return ops.binary("elementwise_mul", size, ops.where(isBelow, ops.filledLike(y, -1), ops.filledLike(y, 1)));
    }

    private static String finite(NodeInputs node) {
        Ops ops = node.ops();
        AttributeMap attributes = node.attributes();
        String x = node.in(0);
        DType dtype = node.dtype(x);
        if (!dtype.isFloating()) {
            return x;
        }
        double most = dtype == DType.FLOAT64 ? Double.MAX_VALUE : Float.MAX_VALUE;
        if (dtype != DType.FLOAT64 && dtype != DType.FLOAT32) {
            throw node.unsupported("the elements must be float32 or float64, but are " + dtype);
        }
        String numbers = ops.where(ops.unary("isnan_v2", x), ops.filledLike(x, attributes.real("nan", 0)), x);
        String isInfinite = ops.unary("isinf_v2", numbers);
        String isBelow = ops.binary("less_than", numbers, ops.constant(dtype, 0, 1));
        String bound = ops.where(isBelow, ops.filledLike(x, attributes.real("neginf", -most)),
                ops.filledLike(x, attributes.real("posinf", most)));
        return ops.where(isInfinite, bound, numbers);
    }
}
