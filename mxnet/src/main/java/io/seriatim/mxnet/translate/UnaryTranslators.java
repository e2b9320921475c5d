package io.seriatim.mxnet.translate;

import io.seriatim.tensor.DType;
import java.util.Map;
import java.util.function.BiFunction;

/** Functions of single elements. */
final class UnaryTranslators {
    /** MXNet's names whose operation of Paddle takes and gives one tensor. */
    private static final Map<String, String> SAME = Map.ofEntries(Map.entry("abs", "abs"), Map.entry("sign", "sign"),
            Map.entry("ceil", "ceil"), Map.entry("floor", "floor"), Map.entry("trunc", "trunc"),
            Map.entry("fix", "trunc"), Map.entry("square", "square"), Map.entry("sqrt", "sqrt"),
            Map.entry("rsqrt", "rsqrt"), Map.entry("exp", "exp"), Map.entry("log", "log"),
            Map.entry("log10", "log10"), Map.entry("log2", "log2"), Map.entry("log1p", "log1p"),
            Map.entry("expm1", "expm1"), Map.entry("sin", "sin"), Map.entry("cos", "cos"), Map.entry("tan", "tan"),
            Map.entry("arcsin", "asin"), Map.entry("arccos", "acos"), Map.entry("arctan", "atan"),
            Map.entry("sinh", "sinh"), Map.entry("cosh", "cosh"), Map.entry("tanh", "tanh"),
            Map.entry("arcsinh", "asinh"), Map.entry("arccosh", "acosh"), Map.entry("arctanh", "atanh"),
            Map.entry("erf", "erf"), Map.entry("erfinv", "erfinv"), Map.entry("gammaln", "lgamma"),
            Map.entry("reciprocal", "reciprocal"), Map.entry("relu", "relu"), Map.entry("sigmoid", "sigmoid"),
            Map.entry("softsign", "softsign"), Map.entry("digamma", "digamma"));

    private UnaryTranslators() {
    }

    static void register(Translators table) {
        SAME.forEach((operator, type) -> table.one(node -> node.ops().unary(type, node.in(0)), operator));
        table.one(node -> node.in(0), "_copy", "identity", "BlockGrad", "stop_gradient", "make_loss",
                "_identity_with_attr_like_rhs", "Dropout", "IdentityAttachKLSparseReg", "_CrossDeviceCopy", "_copyto",
                "_NoGradient",
                "_contrib_gradientmultiplier");
        table.one(node -> node.ops().scale(node.in(0), -1, 0), "negative");
        real(table, (node, x) -> signedPower(node, x, 1 / 3d), "cbrt");
        real(table, (node, x) -> node.ops().unary("reciprocal", signedPower(node, x, 1 / 3d)), "rcbrt");
        // MXNet's factors are float32, whatever the elements are.
        real(table, (node, x) -> node.ops().scale(x, (float) Math.PI / 180, 0), "radians");
        real(table, (node, x) -> node.ops().scale(x, 180 / (float) Math.PI, 0), "degrees");
        table.one(UnaryTranslators::awayFromZero, "round");
        table.one(UnaryTranslators::towardsLower, "rint");
        table.one(UnaryTranslators::not, "logical_not");
        real(table, UnaryTranslators::gamma, "gamma");
        table.one(node -> cast(node, node.in(0)), "Cast", "cast", "amp_cast");
        table.many(node -> node.all().stream().map(each -> node.ops().cast(each, widest(node))).toList(),
                "amp_multicast");
        table.one(UnaryTranslators::clip, "clip");
        real(table, UnaryTranslators::smoothL1, "smooth_l1");
        table.one(node -> truth(node, "isnan_v2"), "_contrib_isnan");
        table.one(node -> truth(node, "isinf_v2"), "_contrib_isinf");
        table.one(node -> truth(node, "isfinite_v2"), "_contrib_isfinite");
        table.one(UnaryTranslators::quadratic, "_contrib_quadratic");
        table.one(UnaryTranslators::scaledByWidth, "_contrib_div_sqrt_dim");
    }

    /** Functions of several operations. */
    private static void real(Translators table, BiFunction<NodeInputs, String, String> function, String operator) {
        table.one(node -> node.ops().real(node.in(0), x -> function.apply(node, x)), operator);
    }

    private static String truth(NodeInputs node, String type) {
        return node.ops().cast(node.ops().unary(type, node.in(0)), DType.FLOAT32);
    }

    /** A power of the size, with the sign: the cube root of negative numbers is negative. */
    static String signedPower(NodeInputs node, String x, double exponent) {
        Ops ops = node.ops();
        String size = ops.power(ops.unary("abs", x), exponent);
        return ops.binary("elementwise_mul", ops.unary("sign", x), size);
    }

    /** MXNet rounds halves away from zero. */
    private static String awayFromZero(NodeInputs node) {
        Ops ops = node.ops();
        String size = ops.unary("floor", ops.scale(ops.unary("abs", node.in(0)), 1, 0.5));
        return ops.binary("elementwise_mul", ops.unary("sign", node.in(0)), size);
    }

    /** Halves go to the lower neighbour: x − 0.5 is rounded up. */
    static String towardsLower(NodeInputs node) {
        return node.ops().unary("ceil", node.ops().scale(node.in(0), 1, -0.5));
    }

    private static String not(NodeInputs node) {
        String zero = node.ops().constant(node.dtype(node.in(0)), 0, 1);
        return node.ops().truth("equal", node.in(0), zero);
    }

    /** Γ from its logarithm; between the poles below 0 its sign alternates. */
    private static String gamma(NodeInputs node, String x) {
        Ops ops = node.ops();
        DType dtype = node.dtype(x);
        String size = ops.unary("exp", ops.unary("lgamma", x));
        String half = ops.unary("floor", ops.scale(x, 0.5, 0));
        // 0 or 1: whether the whole part is odd
        String odd = ops.binary("elementwise_sub", ops.unary("floor", x), ops.scale(half, 2, 0));
        String below = ops.truth("less_than", x, ops.constant(dtype, 0, 1));
        return ops.binary("elementwise_mul", size, ops.scale(ops.binary("elementwise_mul", odd, below), -2, 1));
    }

    private static String cast(NodeInputs node, String x) {
        return node.ops().cast(x, node.attributes().dtype("dtype", DType.FLOAT32));
    }

    private static DType widest(NodeInputs node) {
        return node.all().stream().map(node::dtype).max((a, b) -> Integer.compare(a.bytes(), b.bytes())).orElseThrow();
    }

    private static String clip(NodeInputs node) {
        // MXNet's bounds are float32 too.
        return node.op("clip").in("X", node.in(0)).attr("min", (float) node.attributes().real("a_min"))
                .attr("max", (float) node.attributes().real("a_max")).one("Out");
    }

    /** 0.5·(σx)² where |x| < 1/σ², else |x| − 0.5/σ². */
    private static String smoothL1(NodeInputs node, String x) {
        Ops ops = node.ops();
        double sigma = node.attributes().real("scalar", 1);
        double bound = 1 / (sigma * sigma);
        String size = ops.unary("abs", x);
        String inner = ops.scale(ops.unary("square", x), 0.5 / bound, 0);
        String near = ops.binary("less_than", size, ops.constant(node.dtype(x), bound, 1));
        return ops.where(near, inner, ops.scale(size, 1, -0.5 * bound));
    }

    /** The numbers are float32 in MXNet. */
    private static String quadratic(NodeInputs node) {
        Ops ops = node.ops();
        AttributeMap attributes = node.attributes();
        String square = ops.scale(ops.unary("square", node.in(0)), (float) attributes.real("a", 0),
                (float) attributes.real("c", 0));
        return ops.binary("elementwise_add", square, ops.scale(node.in(0), (float) attributes.real("b", 0), 0));
    }

    private static String scaledByWidth(NodeInputs node) {
        Ops ops = node.ops();
        String x = node.in(0);
        long[] dims = node.dims(x);
        if (dims.length > 0 && dims[dims.length - 1] > 0) {
            return ops.scale(x, 1 / Math.sqrt((double) dims[dims.length - 1]), 0);
        }
        String width = ExpansionTranslators.length(node, x, node.axis(x, -1), node.dtype(x));
        return ops.binary("elementwise_div", x, ops.unary("sqrt", width));
    }
}
