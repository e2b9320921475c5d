package io.seriatim.onnx.operators;

import io.seriatim.graph.translate.BlockBuilder;
import io.seriatim.graph.translate.Ref;
import io.seriatim.onnx.node.Node;
import io.seriatim.onnx.node.Registry;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Arithmetic, comparisons, logic and bits of single elements. */
public final class ElementwiseOperators {
    /** Those of ONNX with the same meaning under Paddle's name. */
    private static final Map<String, String> UNARY = Map.ofEntries(Map.entry("Abs", "abs"), Map.entry("Acos", "acos"),
            Map.entry("Acosh", "acosh"), Map.entry("Asin", "asin"), Map.entry("Asinh", "asinh"),
            Map.entry("Atan", "atan"), Map.entry("Atanh", "atanh"), Map.entry("Ceil", "ceil"),
            Map.entry("Cos", "cos"), Map.entry("Cosh", "cosh"), Map.entry("Erf", "erf"), Map.entry("Exp", "exp"),
            Map.entry("Floor", "floor"), Map.entry("Log", "log"), Map.entry("Reciprocal", "reciprocal"),
            Map.entry("Round", "onnx_round"), Map.entry("Sign", "sign"), Map.entry("Sin", "sin"),
            Map.entry("Sinh", "sinh"), Map.entry("Sqrt", "sqrt"), Map.entry("Tan", "tan"), Map.entry("Tanh", "tanh"),
            Map.entry("Not", "logical_not"), Map.entry("IsNaN", "isnan_v2"), Map.entry("BitwiseNot", "bitwise_not"));
    private static final Map<String, String> BINARY = Map.ofEntries(Map.entry("Add", "elementwise_add"),
            Map.entry("Sub", "elementwise_sub"), Map.entry("Mul", "elementwise_mul"),
            Map.entry("Div", "elementwise_div"), Map.entry("Equal", "equal"), Map.entry("Greater", "greater_than"),
            Map.entry("GreaterOrEqual", "greater_equal"), Map.entry("Less", "less_than"),
            Map.entry("LessOrEqual", "less_equal"), Map.entry("And", "logical_and"), Map.entry("Or", "logical_or"),
            Map.entry("Xor", "logical_xor"), Map.entry("BitwiseAnd", "bitwise_and"),
            Map.entry("BitwiseOr", "bitwise_or"), Map.entry("BitwiseXor", "bitwise_xor"));

    private ElementwiseOperators() {
    }

    /** Adds the operators. */
    public static void register(Registry operators) {
        UNARY.forEach((type, operation) -> operators.one(type, node -> node.block().unary(operation, node.input(0))));
        BINARY.forEach((type, operation) -> operators.one(type, node -> binary(node, operation)));
        operators.one("Neg", ElementwiseOperators::negative);
        operators.one("Mod", node -> binary(node, node.flag("fmod", false) ? "onnx_fmod" : "elementwise_mod"));
        operators.one("Pow", ElementwiseOperators::power);
        operators.one("BitShift", ElementwiseOperators::shift);
        operators.one("IsInf", ElementwiseOperators::isInfinite);
        operators.one("Max", node -> folded(node, "elementwise_max"));
        operators.one("Min", node -> folded(node, "elementwise_min"));
        operators.one("Sum", node -> folded(node, "elementwise_add"));
        operators.one("Mean", ElementwiseOperators::mean);
        operators.one("Clip", ElementwiseOperators::clip);
        operators.one("Where", node -> choose(node.block(), node.input(0), node.input(1), node.input(2)));
        operators.one("Cast", node -> cast(node, node.dtype("to", DType.FLOAT32)));
        operators.one("CastLike", node -> cast(node, node.input(1).dtype()));
        operators.one("BitCast", ElementwiseOperators::sameBits);
    }

    private static Ref binary(Node node, String operation) {
        Ref x = node.input(0);
        Ref y = aligned(node, x, node.input(1));
        return apply(node.block(), operation, x, y);
    }

    /** Those of Paddle that broadcast as ONNX does have no attribute for it. */
    static Ref apply(BlockBuilder block, String operation, Ref x, Ref y) {
        return block.op(operation).in("X", x).in("Y", y).out("Out");
    }

    /** Until version 6 an attribute says where the axes of the second operand begin. */
    private static Ref aligned(Node node, Ref x, Ref y) {
        if (node.version() >= 7 || !node.flag("broadcast", false) || !node.hasAttribute("axis")) {
            return y;
        }
        int trailing = x.rank() - y.rank() - node.axis(node.integer("axis", 0), x.rank());
        if (trailing < 0) {
            throw node.error("the operand of rank %d does not fit into one of rank %d from axis %d on", y.rank(),
                    x.rank(), node.integer("axis", 0));
        }
        int[] axes = new int[trailing];
        for (int i = 0; i < trailing; i++) {
            axes[i] = y.rank() + i;
        }
        return trailing == 0 ? y : node.block().unsqueeze(y, axes);
    }

    /** Paddle's operation takes operands of one shape. */
    static Ref choose(BlockBuilder block, Ref condition, Ref x, Ref y) {
        boolean alike = Arrays.equals(condition.dims(), x.dims()) && Arrays.equals(x.dims(), y.dims())
                && Arrays.stream(x.dims()).allMatch(dim -> dim >= 0);
        return block.op(alike ? "where" : "onnx_where").in("Condition", condition).in("X", x).in("Y", y).out("Out");
    }

    private static Ref negative(Node node) {
        Ref x = node.input(0);
        return apply(node.block(), "elementwise_mul", x, node.block().scalar(x.dtype(), -1));
    }

    /** The result has the type of the base; whole numbers with exponents that are not are computed in double. */
    private static Ref power(Node node) {
        BlockBuilder block = node.block();
        Ref x = node.input(0);
        Ref y = aligned(node, x, node.input(1));
        if (x.dtype().isFloating() && y.rank() <= x.rank() && isTwo(node)) {
            return block.unary("square", x);
        }
        DType wide = x.dtype();
        if (x.dtype() != y.dtype() && !x.dtype().isFloating()) {
            wide = y.dtype().isFloating()
                    ? DType.FLOAT64
                    : y.dtype() == DType.UINT64 ? DType.UINT64 : DType.INT64;
        } else if (x.dtype() != DType.FLOAT64 && (y.dtype() == DType.FLOAT64 || y.dtype() == DType.INT64)) {
            // An exponent of more digits than the base keeps them.
            wide = x.dtype() == y.dtype() || (x.dtype().isFloating() && isExact(node, x.dtype()))
                    ? x.dtype()
                    : DType.FLOAT64;
        }
        Ref result = apply(block, "elementwise_pow", block.cast(x, wide), block.cast(y, wide));
        return block.cast(result, x.dtype());
    }

    private static boolean isTwo(Node node) {
        Tensor exponent = node.value(1);
        return exponent != null && exponent.shape().size() == 1 && exponent.toDoubleArray()[0] == 2;
    }

    /** Whether the exponent is known and the same in the type of the base. */
    private static boolean isExact(Node node, DType dtype) {
        Tensor exponent = node.value(1);
        if (exponent == null) {
            return false;
        }
        double[] given = exponent.toDoubleArray();
        double[] kept = Tensor.of(dtype, given, given.length).toDoubleArray();
        for (int i = 0; i < given.length; i++) {
            if (Double.compare(given[i], kept[i]) != 0) {
                return false;
            }
        }
        return true;
    }

    private static Ref shift(Node node) {
        String direction = node.text("direction", "");
        if (!direction.equals("LEFT") && !direction.equals("RIGHT")) {
            throw node.error("attribute 'direction' must be LEFT or RIGHT, but is '%s'", direction);
        }
        return node.op(direction.equals("LEFT") ? "bitwise_left_shift" : "bitwise_right_shift")
                .in("x", node.input(0)).in("y", node.input(1)).out("out");
    }

    private static Ref isInfinite(Node node) {
        BlockBuilder block = node.block();
        Ref x = node.input(0);
        boolean positive = node.flag("detect_positive", true);
        boolean negative = node.flag("detect_negative", true);
        if (positive && negative) {
            return block.unary("isinf_v2", x);
        }
        if (!positive && !negative) {
            Ref infinite = block.unary("isinf_v2", x);
            return apply(block, "logical_and", infinite, block.unary("logical_not", infinite));
        }
        return apply(block, "equal", x,
                block.scalar(x.dtype(), positive ? Double.POSITIVE_INFINITY : Double.NEGATIVE_INFINITY));
    }

    private static Ref folded(Node node, String operation) {
        List<Ref> all = node.inputs(0);
        if (all.isEmpty()) {
            throw node.error("needs an operand");
        }
        Ref result = all.getFirst();
        for (Ref each : all.subList(1, all.size())) {
            result = apply(node.block(), operation, result, each);
        }
        return result;
    }

    private static Ref mean(Node node) {
        Ref sum = folded(node, "elementwise_add");
        return node.count() == 1
                ? sum
                : apply(node.block(), "elementwise_div", sum, node.block().scalar(sum.dtype(), node.count()));
    }

    /** Bounds that floats hold are attributes, which are fused with the operation before. */
    private static Ref clip(Node node) {
        BlockBuilder block = node.block();
        Ref x = node.input(0);
        Ref least = bound(node, 1, "min");
        Ref most = bound(node, 2, "max");
        Float low = known(node, least, -Float.MAX_VALUE);
        Float high = known(node, most, Float.MAX_VALUE);
        if (x.dtype().isFloating() && low != null && high != null && low <= high && least != null && most != null) {
            return block.op("clip").in("X", x).attr("min", low).attr("max", high).out("Out");
        }
        Ref result = least == null ? x : apply(block, "elementwise_max", x, least);
        return most == null ? result : apply(block, "elementwise_min", result, most);
    }

    private static @Nullable Ref bound(Node node, int index, String attribute) {
        if (node.version() >= 11) {
            return node.maybe(index);
        }
        return node.hasAttribute(attribute)
                ? node.block().scalar(node.input(0).dtype(), node.real(attribute, 0))
                : null;
    }

    private static @Nullable Float known(Node node, @Nullable Ref bound, float byDefault) {
        if (bound == null) {
            return byDefault;
        }
        Tensor value = node.block().model().value(bound);
        if (value == null || value.shape().size() != 1) {
            return null;
        }
        double exact = value.toDoubleArray()[0];
        return (float) exact == exact ? (Float) (float) exact : null;
    }

    private static Ref cast(Node node, DType to) {
        return node.block().cast(node.input(0), to);
    }

    private static Ref sameBits(Node node) {
        Ref x = node.input(0);
        DType to = node.dtype("to", x.dtype());
        if (to.bytes() != x.dtype().bytes()) {
            throw node.error("types of the same number of bits are needed, but %s is turned into %s", x.dtype(), to);
        }
        return x.dtype() == to
                ? x
                : node.op("view_dtype").in("input", x).attr("dtype", to).out("out");
    }
}
