package io.seriatim.onnx.write.operators;

import io.seriatim.onnx.emit.OpWriters;
import io.seriatim.onnx.emit.WrittenOp;
import io.seriatim.onnx.proto.ElementTypes;
import io.seriatim.tensor.DType;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.LongStream;

/** Functions of single elements, with broadcasting. */
public final class ElementwiseWriters {
    private static final Map<String, String> UNARY = Map.ofEntries(Map.entry("relu", "Relu"),
            Map.entry("sigmoid", "Sigmoid"), Map.entry("tanh", "Tanh"), Map.entry("exp", "Exp"),
            Map.entry("log", "Log"),
            Map.entry("sqrt", "Sqrt"), Map.entry("abs", "Abs"), Map.entry("floor", "Floor"), Map.entry("ceil", "Ceil"),
            Map.entry("sin", "Sin"), Map.entry("cos", "Cos"), Map.entry("tan", "Tan"), Map.entry("asin", "Asin"),
            Map.entry("acos", "Acos"), Map.entry("atan", "Atan"), Map.entry("sinh", "Sinh"), Map.entry("cosh", "Cosh"),
            Map.entry("asinh", "Asinh"), Map.entry("acosh", "Acosh"), Map.entry("atanh", "Atanh"),
            Map.entry("erf", "Erf"), Map.entry("reciprocal", "Reciprocal"), Map.entry("softsign", "Softsign"),
            Map.entry("sign", "Sign"), Map.entry("assign", "Identity"), Map.entry("share_data", "Identity"));
    private static final Map<String, String> BINARY = Map.ofEntries(Map.entry("elementwise_add", "Add"),
            Map.entry("elementwise_sub", "Sub"), Map.entry("elementwise_mul", "Mul"),
            Map.entry("elementwise_div", "Div"),
            Map.entry("elementwise_pow", "Pow"), Map.entry("elementwise_max", "Max"),
            Map.entry("elementwise_min", "Min"),
            Map.entry("equal", "Equal"));
    private static final Map<String, String> ORDER = Map.of("less_than", "Less", "less_equal", "LessOrEqual",
            "greater_than", "Greater", "greater_equal", "GreaterOrEqual");
    private static final Map<String, String> LOGICAL = Map.of("logical_and", "And", "logical_or", "Or", "logical_xor",
            "Xor");

    private ElementwiseWriters() {
    }

    /** Adds the writers. */
    public static void register(OpWriters all) {
        UNARY.forEach((type, node) -> all.add(type, op -> op.out("Out", op.node(node, op.in("X")))));
        BINARY.forEach((type, node) -> all.add(type, op -> op.out("Out", op.node(node, first(op), second(op)))));
        ORDER.forEach((type, node) -> all.add(type, op -> op.out("Out", op.dtype("X") == DType.BOOL
                ? op.node(node, op.cast(first(op), DType.INT32), op.cast(second(op), DType.INT32))
                : op.node(node, first(op), second(op)))));
        LOGICAL.forEach((type, node) -> all.add(type,
                op -> op.out("Out", op.node(node, truth(op, "X", first(op)), truth(op, "Y", second(op))))));
        all.add("logical_not", op -> op.out("Out", op.node("Not", truth(op, "X", op.in("X")))));
        all.add("isnan_v2", op -> op.out("Out", op.node("IsNaN", floating(op))));
        all.add("isinf_v2", op -> op.out("Out", op.node("IsInf", floating(op))));
        all.add("not_equal", op -> op.out("Out", op.node("Not", op.node("Equal", first(op), second(op)))));
        all.add("elementwise_floordiv", ElementwiseWriters::floorDivision);
        all.add("elementwise_mod", ElementwiseWriters::modulo);
        all.add("bitwise_and", op -> bitwise(op, "And", "BitwiseAnd"));
        all.add("bitwise_or", op -> bitwise(op, "Or", "BitwiseOr"));
        all.add("bitwise_xor", op -> bitwise(op, "Xor", "BitwiseXor"));
        all.add("isfinite_v2", op -> op.out("Out",
                op.node("Not", op.node("Or", op.node("IsNaN", floating(op)), op.node("IsInf", floating(op))))));
        all.add("square", op -> op.out("Out", op.node("Mul", op.in("X"), op.in("X"))));
        all.add("rsqrt", op -> op.out("Out", op.node("Reciprocal", op.node("Sqrt", op.in("X")))));
        all.add("log1p", op -> op.out("Out", op.node("Log", op.node("Add", op.in("X"), number(op, 1)))));
        all.add("expm1", op -> op.out("Out", op.node("Sub", op.node("Exp", op.in("X")), number(op, 1))));
        all.add("log2", op -> op.out("Out",
                op.node("Mul", op.node("Log", op.in("X")), number(op, 1 / Math.log(2)))));
        all.add("log10", op -> op.out("Out",
                op.node("Mul", op.node("Log", op.in("X")), number(op, 1 / Math.log(10)))));
        all.add("round", op -> op.out("Out", !op.dtype("X").isFloating()
                ? op.node("Identity", op.in("X"))
                : op.attrs().getBool("half_to_even") ? op.node("Round", op.in("X")) : awayFromZero(op, op.in("X"))));
        all.add("silu", op -> op.out("Out", op.node("Mul", op.in("X"), op.node("Sigmoid", op.in("X")))));
        all.add("swish", op -> op.out("Out", op.node("Mul", op.in("X"), op.node("Sigmoid", op.in("X")))));
        all.add("logsigmoid", op -> op.out("Out",
                op.node("Neg", op.node("Softplus", op.node("Neg", op.in("X"))))));
        all.add("tanh_shrink", op -> op.out("Out", op.node("Sub", op.in("X"), op.node("Tanh", op.in("X")))));
        all.add("relu6", op -> op.out("Out", op.node("Clip", op.in("X"), number(op, 0), number(op, 6))));
        all.add("hard_sigmoid", op -> op.out("Out", op.node("HardSigmoid",
                Map.of("alpha", op.attrs().getFloat("slope"), "beta", op.attrs().getFloat("offset")), op.in("X"))));
        all.add("hard_swish", ElementwiseWriters::hardSwish);
        all.add("leaky_relu", op -> alpha(op, "LeakyRelu", "alpha"));
        all.add("elu", op -> alpha(op, "Elu", "alpha"));
        all.add("celu", ElementwiseWriters::celu);
        all.add("thresholded_relu", op -> alpha(op, "ThresholdedRelu", "threshold"));
        all.add("selu", op -> op.out("Out", op.node("Selu", Map.of("gamma", op.attrs().getFloat("scale"), "alpha",
                op.attrs().getFloat("alpha")), op.in("X"))));
        all.add("hard_shrink", op -> op.out("Out", op.node("Shrink",
                Map.of("lambd", op.attrs().getFloat("threshold"), "bias", 0f), op.in("X"))));
        all.add("softshrink", op -> op.out("Out", op.node("Shrink",
                Map.of("lambd", op.attrs().getFloat("lambda"), "bias", op.attrs().getFloat("lambda")), op.in("X"))));
        all.add("brelu", op -> op.out("Out", op.node("Clip", op.in("X"), number(op, op.attrs().getFloat("t_min")),
                number(op, op.attrs().getFloat("t_max")))));
        all.add("softplus", ElementwiseWriters::softplus);
        all.add("mish", op -> op.out("Out", op.node("Mul", op.in("X"), op.node("Tanh",
                op.node("Where", op.node("Greater", op.in("X"), number(op, op.attrs().getFloat("threshold"))),
                        op.in("X"), op.node("Softplus", op.in("X")))))));
        all.add("stanh", op -> op.out("Out", op.node("Mul", op.node("Tanh", op.node("Mul", op.in("X"),
                number(op, op.attrs().getFloat("scale_a")))), number(op, op.attrs().getFloat("scale_b")))));
        all.add("gelu", ElementwiseWriters::gelu);
        all.add("scale", ElementwiseWriters::scale);
        all.add("pow", op -> op.out("Out", op.node("Pow", op.in("X"),
                op.has("FactorTensor") ? op.in("FactorTensor") : number(op, op.attrs().getFloat("factor")))));
        all.add("increment", op -> op.out("Out", op.node("Add", op.in("X"), number(op, op.attrs().getFloat("step")))));
        all.add("clip", ElementwiseWriters::clip);
        all.add("cast", op -> op.out("Out", op.cast(op.in("X"), op.attrs().getDType("out_dtype"))));
        all.add("where", op -> op.out("Out", op.node("Where", op.in("Condition"), op.in("X"), op.in("Y"))));
        all.add("sum", ElementwiseWriters::sum);
        all.add("prelu", ElementwiseWriters::prelu);
        all.add("dropout", ElementwiseWriters::dropout);
    }

    /** Whole numbers: ONNX rounds halves to even ones, PaddlePaddle 2 away from zero. */
    static String awayFromZero(WrittenOp op, String x) {
        String size = op.node("Abs", x);
        String whole = op.node("Floor", size);
        String further = op.node("GreaterOrEqual", op.node("Sub", size, whole), number(op, 0.5));
        return op.node("Mul", op.node("Sign", x), op.node("Add", whole, op.cast(further, op.dtype("X"))));
    }

    /** A number of the type of operand X. */
    static String number(WrittenOp op, double value) {
        return op.scalar(op.dtype("X"), value);
    }

    private static void alpha(WrittenOp op, String node, String attribute) {
        op.out("Out", op.node(node, Map.of("alpha", op.attrs().getFloat(attribute)), op.in("X")));
    }

    private static String truth(WrittenOp op, String slot, String value) {
        return op.dtype(slot) == DType.BOOL ? value : op.cast(value, DType.BOOL);
    }

    private static String floating(WrittenOp op) {
        return op.dtype("X").isFloating() ? op.in("X") : op.cast(op.in("X"), DType.FLOAT32);
    }

    private static void celu(WrittenOp op) {
        if (op.dtype("X") != DType.FLOAT64) {
            // ONNX has it for float only.
            String y =
                    op.node("Celu", Map.of("alpha", op.attrs().getFloat("alpha")), op.cast(op.in("X"), DType.FLOAT32));
            op.out("Out", op.cast(y, op.dtype("X")));
            return;
        }
        String alpha = number(op, op.attrs().getFloat("alpha"));
        String below = op.node("Mul", alpha,
                op.node("Sub", op.node("Exp", op.node("Div", op.in("X"), alpha)), number(op, 1)));
        op.out("Out", op.node("Add", op.node("Max", op.in("X"), number(op, 0)),
                op.node("Min", below, number(op, 0))));
    }

    /** The first operand, whose axes are aligned if it has fewer. */
    static String first(WrittenOp op) {
        return op.rank("X") < op.rank("Y") ? aligned(op, "X", "Y") : op.in("X");
    }

    /** The second operand, whose axes are aligned if it has not more. */
    static String second(WrittenOp op) {
        return op.rank("Y") <= op.rank("X") ? aligned(op, "Y", "X") : op.in("Y");
    }

    /** Paddle aligns the first axis of an operand with an axis of the other one, ONNX its last axis with the last. */
    private static String aligned(WrittenOp op, String slot, String other) {
        int axis = op.attrs().has("axis") ? op.attrs().getInt("axis") : -1;
        long[] dims = op.dims(slot);
        int missing = op.rank(other) - dims.length - axis;
        if (axis < 0 || missing == 0 || dims.length == 0) {
            return op.in(slot);
        }
        if (missing > 0) {
            return op.node("Unsqueeze", op.in(slot),
                    op.ints(LongStream.range(dims.length, dims.length + (long) missing).toArray()));
        }
        // Ones at the end do not count.
        return op.node("Squeeze", op.in(slot),
                op.ints(LongStream.range(dims.length + (long) missing, dims.length).toArray()));
    }

    /** ONNX divides whole numbers towards zero. */
    private static void floorDivision(WrittenOp op) {
        String x = op.in("X");
        String y = second(op);
        if (op.dtype("X").isFloating()) {
            op.out("Out", op.node("Floor", op.node("Div", x, y)));
            return;
        }
        String remainder = op.node("Mod", x, y);
        op.out("Out", op.node("Div", op.node("Sub", x, remainder), y));
    }

    private static void modulo(WrittenOp op) {
        String x = op.in("X");
        String y = second(op);
        op.out("Out", op.dtype("X").isFloating()
                ? op.node("Sub", x, op.node("Mul", op.node("Floor", op.node("Div", x, y)), y))
                : op.node("Mod", x, y));
    }

    private static void bitwise(WrittenOp op, String logical, String bits) {
        if (op.dtype("X") != DType.BOOL && op.opset() < 18) {
            throw op.error("works on bits of %s, which ONNX has from version 18 on", op.dtype("X"));
        }
        op.out("Out", op.node(op.dtype("X") == DType.BOOL ? logical : bits, op.in("X"), second(op)));
    }

    /** Paddle ignores the attributes of this operation. */
    private static void hardSwish(WrittenOp op) {
        String gate = op.node("Clip", op.node("Add", op.in("X"), number(op, 3)), number(op, 0), number(op, 6));
        op.out("Out", op.node("Div", op.node("Mul", op.in("X"), gate), number(op, 6)));
    }

    private static void softplus(WrittenOp op) {
        float beta = op.attrs().getFloat("beta");
        String x = op.in("X");
        String scaled = op.node("Mul", x, number(op, beta));
        String soft = op.node("Div", op.node("Softplus", scaled), number(op, beta));
        op.out("Out", op.node("Where",
                op.node("Greater", scaled, number(op, op.attrs().getFloat("threshold"))), x, soft));
    }

    private static void gelu(WrittenOp op) {
        String x = op.in("X");
        String inner;
        if (op.attrs().getBool("approximate")) {
            String cube = op.node("Mul", op.node("Mul", x, x), x);
            String sum = op.node("Add", x, op.node("Mul", cube, number(op, 0.044715)));
            inner = op.node("Tanh", op.node("Mul", sum, number(op, Math.sqrt(2 / Math.PI))));
        } else {
            inner = op.node("Erf", op.node("Mul", x, number(op, Math.sqrt(0.5))));
        }
        op.out("Out", op.node("Mul", op.node("Mul", x, number(op, 0.5)),
                op.node("Add", inner, number(op, 1))));
    }

    private static void scale(WrittenOp op) {
        if (op.dtype("X") == DType.BOOL) {
            throw op.error("computes with bool, with which ONNX does not");
        }
        String scale = op.has("ScaleTensor")
                ? op.node("Cast", Map.of("to", ElementTypes.number(op.dtype("X"))),
                        op.in("ScaleTensor"))
                : number(op, op.attrs().getFloat("scale"));
        String bias = number(op, op.attrs().getFloat("bias"));
        boolean scaled = op.has("ScaleTensor") || Float.compare(op.attrs().getFloat("scale"), 1) != 0;
        boolean moved = op.attrs().getFloat("bias") != 0;
        String value = op.in("X");
        if (op.attrs().getBool("bias_after_scale")) {
            value = scaled ? op.node("Mul", value, scale) : value;
            value = moved ? op.node("Add", value, bias) : value;
        } else {
            value = moved ? op.node("Add", value, bias) : value;
            value = scaled ? op.node("Mul", value, scale) : value;
        }
        op.out("Out", scaled || moved ? value : op.node("Identity", value));
    }

    private static void sum(WrittenOp op) {
        if (op.dtype("X").isFloating() && op.count("X") > 1) {
            op.out("Out", op.nodes("Sum", 1, Map.of(), op.ins("X")).getFirst());
            return;
        }
        String total = op.in("X");
        for (int i = 1; i < op.count("X"); i++) {
            total = op.node("Add", total, op.in("X", i));
        }
        op.out("Out", op.count("X") == 1 ? op.node("Identity", total) : total);
    }

    private static void clip(WrittenOp op) {
        String low = op.has("Min")
                ? op.node("Reshape", op.cast(op.in("Min"), op.dtype("X")), op.ints())
                : number(op, op.attrs().getFloat("min"));
        String high = op.has("Max")
                ? op.node("Reshape", op.cast(op.in("Max"), op.dtype("X")), op.ints())
                : number(op, op.attrs().getFloat("max"));
        op.out("Out", op.node("Clip", op.in("X"), low, high));
    }

    private static void prelu(WrittenOp op) {
        String slope = op.in("Alpha");
        boolean last = op.attrs().getText("data_format").endsWith("C");
        if (op.attrs().getText("mode").equals("channel") && !last) {
            long[] shape = new long[op.rank("X") - 1];
            Arrays.fill(shape, 1);
            shape[0] = -1;
            slope = op.node("Reshape", slope, op.ints(shape));
        } else if (op.attrs().getText("mode").equals("element")) {
            slope = op.node("Reshape", slope, op.node("Concat", Map.of("axis", 0), op.ints(1),
                    op.node("Slice", op.node("Shape", op.in("X")), op.ints(1), op.ints(op.rank("X")))));
        }
        op.out("Out", op.node("PRelu", op.in("X"), slope));
    }

    private static void dropout(WrittenOp op) {
        if (!op.attrs().getBool("is_test")) {
            throw op.error("is in its form for training; write the program's form for inference");
        }
        boolean keeps = op.attrs().getText("dropout_implementation").equals("upscale_in_train");
        op.out("Out", keeps
                ? op.node("Identity", op.in("X"))
                : op.node("Mul", op.in("X"), number(op, 1 - (double) op.attrs().getFloat("dropout_prob"))));
    }
}
