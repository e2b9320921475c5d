package io.seriatim.mxnet.translate;

import io.seriatim.tensor.DType;
import java.util.Map;

/** Functions of two elements, of which the second may be a number. */
final class BinaryTranslators {
    /** Arithmetic: the names that follow broadcast_, with Paddle's operations. */
    private static final Map<String, String> ARITHMETIC = Map.of("add", "elementwise_add", "sub", "elementwise_sub",
            "mul", "elementwise_mul", "div", "elementwise_div", "mod", "elementwise_mod", "power", "elementwise_pow",
            "maximum", "elementwise_max", "minimum", "elementwise_min");
    private static final Map<String, String> COMPARISONS = Map.of("equal", "equal", "not_equal", "not_equal",
            "greater", "greater_than", "greater_equal", "greater_equal", "lesser", "less_than", "lesser_equal",
            "less_equal");
    private static final Map<String, String> LOGICAL = Map.of("logical_and", "logical_and", "logical_or",
            "logical_or", "logical_xor", "logical_xor");

    /** The names of comparisons before version 0.9. */
    private static final Map<String, String> OLD = Map.of("Equal", "equal", "Not_Equal", "not_equal", "Greater",
            "greater_than", "Greater_Equal", "greater_equal", "Lesser", "less_than", "Lesser_Equal", "less_equal");

    private BinaryTranslators() {
    }

    /** Of two variables, or of a variable and a number. */
    private interface Function {
        String of(NodeInputs node, String x, String y);
    }

    static void register(Translators table) {
        OLD.forEach((old, today) -> {
            Function function = (node, x, y) -> node.ops().truth(today, x, y);
            pair(table, function, "_" + old);
            number(table, function, "_" + old.replace("_", "") + "Scalar");
        });
        ARITHMETIC.forEach((name, type) -> {
            Function function = (node, x, y) -> node.ops().binary(type, x, y);
            pair(table, function, "broadcast_" + name);
            number(table, function, "_" + name + "_scalar");
        });
        COMPARISONS.forEach((name, type) -> {
            Function function = (node, x, y) -> node.ops().truth(type, x, y);
            pair(table, function, "broadcast_" + name, "_" + name);
            number(table, function, "_" + name + "_scalar");
        });
        LOGICAL.forEach((name, type) -> {
            Function function = (node, x, y) -> logical(node, type, x, y);
            pair(table, function, "broadcast_" + name, "_" + name);
            number(table, function, "_" + name + "_scalar");
        });
        pair(table, arithmetic("elementwise_add"), "elemwise_add", "_add", "_plus", "_Plus", "broadcast_plus",
                "_grad_add");
        pair(table, arithmetic("elementwise_sub"), "elemwise_sub", "_sub", "_minus", "_Minus", "broadcast_minus");
        pair(table, arithmetic("elementwise_mul"), "elemwise_mul", "_mul", "_Mul");
        pair(table, arithmetic("elementwise_div"), "elemwise_div", "_div", "_Div");
        pair(table, arithmetic("elementwise_mod"), "_mod", "_Mod");
        pair(table, arithmetic("elementwise_pow"), "_power", "_Power");
        pair(table, arithmetic("elementwise_max"), "_maximum", "_Maximum");
        pair(table, arithmetic("elementwise_min"), "_minimum", "_Minimum");
        pair(table, BinaryTranslators::hypot, "broadcast_hypot", "_hypot", "_Hypot");
        number(table, BinaryTranslators::hypot, "_hypot_scalar", "_HypotScalar");
        shifts(table, "_plus_scalar", 1, 1, "_PlusScalar");
        shifts(table, "_minus_scalar", 1, -1, "_MinusScalar");
        shifts(table, "_rminus_scalar", -1, 1, "_RMinusScalar");
        number(table, arithmetic("elementwise_mul"), "_MulScalar");
        number(table, arithmetic("elementwise_div"), "_DivScalar");
        number(table, arithmetic("elementwise_pow"), "_PowerScalar");
        number(table, arithmetic("elementwise_mod"), "_ModScalar");
        number(table, arithmetic("elementwise_max"), "_MaximumScalar");
        number(table, arithmetic("elementwise_min"), "_MinimumScalar");
        number(table, reversed("elementwise_div"), "_rdiv_scalar", "_RDivScalar");
        number(table, reversed("elementwise_mod"), "_rmod_scalar", "_RModScalar");
        number(table, reversed("elementwise_pow"), "_rpower_scalar", "_RPowerScalar");
        table.one(node -> node.op("sum").in("X", node.all()).one("Out"), "add_n", "ElementWiseSum");
    }

    private static Function arithmetic(String type) {
        return (node, x, y) -> node.ops().binary(type, x, y);
    }

    private static Function reversed(String type) {
        return (node, x, y) -> node.ops().binary(type, y, x);
    }

    private static void pair(Translators table, Function function, String... operators) {
        table.one(node -> function.of(node, node.in(0), node.in(1)), operators);
    }

    private static void number(Translators table, Function function, String... operators) {
        table.one(node -> {
            String x = operand(node);
            return function.of(node, x, number(node, x));
        }, operators);
    }

    /** Whole numbers with a fraction give a float64. */
    private static String operand(NodeInputs node) {
        boolean widened = !node.attributes().flag("is_int", true) && !node.dtype(node.in(0)).isFloating();
        return widened ? node.ops().cast(node.in(0), DType.FLOAT64) : node.in(0);
    }

    private static String number(NodeInputs node, String x) {
        DType dtype = node.dtype(x);
        double value = node.attributes().real("scalar", 1);
        if (!dtype.isFloating() && value != Math.rint(value)) {
            throw node.unsupported("the number must be whole, since the elements are " + dtype + ", but is " + value);
        }
        return node.ops().constant(dtype, value, 1);
    }

    /** factor·x + sign·number, as one operation. */
    private static void shifts(Translators table, String operator, int factor, int sign, String alias) {
        table.one(node -> {
            double number = node.attributes().real("scalar", 1);
            String x = operand(node);
            return node.dtype(x) == DType.FLOAT32 && Math.abs(number) < 1e6
                    ? node.ops().scale(x, factor, sign * number)
                    : shifted(node, x, factor, sign);
        }, operator, alias);
    }

    /** The attributes of Paddle's scale are float32, too coarse for large and for precise numbers. */
    private static String shifted(NodeInputs node, String x, int factor, int sign) {
        String number = number(node, x);
        return factor < 0
                ? node.ops().binary("elementwise_sub", number, x)
                : node.ops().binary(sign < 0 ? "elementwise_sub" : "elementwise_add", x, number);
    }

    private static String logical(NodeInputs node, String type, String x, String y) {
        Ops ops = node.ops();
        return ops.cast(ops.binary(type, isTrue(node, x), isTrue(node, y)), node.dtype(x));
    }

    static String isTrue(NodeInputs node, String x) {
        return node.dtype(x) == DType.BOOL
                ? x
                : node.ops().binary("not_equal", x, node.ops().constant(node.dtype(x), 0, 1));
    }

    private static String hypot(NodeInputs node, String x, String y) {
        Ops ops = node.ops();
        DType dtype = node.dtype(x);
        String other = dtype.isFloating() ? y : ops.cast(y, DType.FLOAT64);
        return ops.real(x, each -> ops.unary("sqrt",
                ops.binary("elementwise_add", ops.unary("square", each), ops.unary("square", other))));
    }
}
