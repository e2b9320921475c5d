package io.seriatim.onnx.operators;

import io.seriatim.graph.translate.BlockBuilder;
import io.seriatim.graph.translate.Ref;
import io.seriatim.onnx.node.Node;
import io.seriatim.onnx.node.Registry;
import io.seriatim.tensor.DType;
import java.util.Arrays;
import java.util.function.UnaryOperator;

/** Activation functions, and softmax with its relatives. */
public final class ActivationOperators {
    private static final float SELU_ALPHA = 1.6732632f;
    private static final float SELU_GAMMA = 1.050701f;

    private ActivationOperators() {
    }

    /** Adds the operators. */
    public static void register(Registry operators) {
        operators.one("Relu", n -> relu(n));
        operators.one("Sigmoid", n -> n.block().unary("sigmoid", n.input(0)));
        operators.one("Softplus", n -> n.block().unary("softplus", n.input(0)));
        operators.one("Softsign", n -> n.block().unary("softsign", n.input(0)));
        operators.one("Mish", n -> n.block().unary("mish", n.input(0)));
        operators.one("HardSwish", n -> n.block().unary("hard_swish", n.input(0)));
        operators.one("HardSigmoid", n -> n.op("hard_sigmoid").in("X", n.input(0))
                .attr("slope", n.real("alpha", 0.2f)).attr("offset", n.real("beta", 0.5f)).out("Out"));
        operators.one("Elu", n -> alpha(n, "elu", 1));
        operators.one("Celu", n -> alpha(n, "celu", 1));
        operators.one("LeakyRelu", n -> alpha(n, "leaky_relu", 0.01f));
        operators.one("Selu", n -> n.op("selu").in("X", n.input(0)).attr("scale", n.real("gamma", SELU_GAMMA))
                .attr("alpha", n.real("alpha", SELU_ALPHA)).out("Out"));
        operators.one("ThresholdedRelu", n -> n.op("thresholded_relu").in("X", n.input(0))
                .attr("threshold", n.real("alpha", 1)).out("Out"));
        operators.one("Swish", n -> swish(n, n.input(0)));
        operators.one("SwiGLU", n -> ElementwiseOperators.apply(n.block(), "elementwise_mul", swish(n, n.input(0)),
                n.input(1)));
        operators.one("Gelu", ActivationOperators::gelu);
        operators.one("Shrink", ActivationOperators::shrink);
        operators.one("PRelu", ActivationOperators::parametricRelu);
        operators.one("Softmax", n -> alongAxis(n, (x, axis) -> n.op("softmax").in("X", x).attr("axis", axis)
                .out("Out")));
        operators.one("LogSoftmax", n -> alongAxis(n, (x, axis) -> n.op("log_softmax").in("X", x)
                .attr("axis", axis).out("Out")));
        operators.one("Hardmax", n -> alongAxis(n, (x, axis) -> hardmax(n, x, axis)));
    }

    /** A function along an axis. */
    private interface AlongAxis {
        Ref apply(Ref x, int axis);
    }

    private static Ref relu(Node node) {
        Ref x = node.input(0);
        return x.dtype().isFloating()
                ? node.block().unary("relu", x)
                : ElementwiseOperators.apply(node.block(), "elementwise_max", x, node.block().scalar(x.dtype(), 0));
    }

    private static Ref alpha(Node node, String operation, float byDefault) {
        return node.op(operation).in("X", node.input(0)).attr("alpha", node.real("alpha", byDefault)).out("Out");
    }

    private static Ref swish(Node node, Ref x) {
        BlockBuilder block = node.block();
        float alpha = node.real("alpha", 1);
        if (alpha == 1) {
            return block.unary("swish", x);
        }
        Ref scaled = block.op("scale").in("X", x).attr("scale", alpha).attr("bias", 0).out("Out");
        return ElementwiseOperators.apply(block, "elementwise_mul", x, block.unary("sigmoid", scaled));
    }

    private static Ref gelu(Node node) {
        String approximate = node.text("approximate", "none");
        if (!approximate.equals("none") && !approximate.equals("tanh")) {
            throw node.error("attribute 'approximate' must be none or tanh, but is '%s'", approximate);
        }
        return node.op("gelu").in("X", node.input(0)).attr("approximate", approximate.equals("tanh")).out("Out");
    }

    /** x + bias below −lambd, x − bias above lambd, 0 between. */
    private static Ref shrink(Node node) {
        BlockBuilder block = node.block();
        Ref x = node.input(0);
        double lambda = node.real("lambd", 0.5f);
        double bias = node.real("bias", 0);
        DType wide = x.dtype().isFloating() ? x.dtype() : DType.FLOAT64;
        Ref y = block.cast(x, wide);
        UnaryOperator<Ref> shifted = by -> ElementwiseOperators.apply(block, "elementwise_add", y, by);
        Ref below = ElementwiseOperators.apply(block, "less_than", y, block.scalar(wide, -lambda));
        Ref above = ElementwiseOperators.apply(block, "greater_than", y, block.scalar(wide, lambda));
        Ref positive = ElementwiseOperators.choose(block, above, shifted.apply(block.scalar(wide, -bias)),
                block.scalar(wide, 0));
        return block.cast(ElementwiseOperators.choose(block, below, shifted.apply(block.scalar(wide, bias)), positive),
                x.dtype());
    }

    /** One slope, or one for each channel, as Paddle has them; else slopes that broadcast. */
    private static Ref parametricRelu(Node node) {
        BlockBuilder block = node.block();
        Ref x = node.input(0);
        Ref slope = node.input(1);
        long size = Arrays.stream(slope.dims()).reduce(1, (a, b) -> a < 0 || b < 0 ? -1 : a * b);
        boolean floating = x.dtype().isFloating();
        if (floating && size == 1) {
            return block.op("prelu").in("X", x).in("Alpha", slope.rank() == 1 ? slope : block.reshape(slope, 1))
                    .attr("mode", "all").out("Out");
        }
        boolean perChannel =
                x.rank() > 2 && size > 0 && x.dim(1) == size && slope.rank() == x.rank() - 1 && slope.dim(0) == size;
        // Until version 6 one slope for each channel was a vector.
        boolean former = node.version() < 7 && x.rank() >= 2 && size > 0 && x.dim(1) == size && slope.rank() == 1;
        if (floating && (perChannel || former)) {
            return block.op("prelu").in("X", x).in("Alpha", former ? slope : block.reshape(slope, size))
                    .attr("mode", "channel").out("Out");
        }
        if (node.version() < 7 && x.rank() > 2 && slope.rank() == 1 && (size < 0 || x.dim(1) < 0)) {
            slope = block.unsqueeze(slope, Steps.axesFrom(1, x.rank() - 1));
        }
        Ref negative = ElementwiseOperators.apply(block, "less_than", x, block.scalar(x.dtype(), 0));
        return ElementwiseOperators.choose(block, negative,
                ElementwiseOperators.apply(block, "elementwise_mul", slope, x), x);
    }

    /** Until version 12 the operand is a matrix whose rows begin with the axis. */
    private static Ref alongAxis(Node node, AlongAxis function) {
        Ref x = node.input(0);
        int rank = x.rank();
        int axis = node.axis(node.integer("axis", node.version() < 13 ? 1 : -1), rank);
        if (node.version() >= 13 || axis == rank - 1 || rank == 0) {
            return function.apply(x, axis);
        }
        BlockBuilder block = node.block();
        Ref matrix = block.op("flatten2").in("X", x).attr("axis", axis).outs("Out", "XShape").getFirst();
        Ref result = function.apply(matrix, 1);
        if (Arrays.stream(x.dims()).filter(dim -> dim < 0).count() <= 1) {
            return block.reshape(result, x.dims());
        }
        return block.op("reshape2").in("X", result).in("Shape", block.shape(x)).outs("Out", "XShape").getFirst();
    }

    /** 1 at the first of the largest elements, else 0. */
    private static Ref hardmax(Node node, Ref given, int axis) {
        BlockBuilder block = node.block();
        if (given.dim(axis) == 0) {
            return given;
        }
        boolean open = given.dim(axis) < 0;
        Ref x = given;
        if (open) {
            // The axis may be empty in a run: one more element, which is chosen then only, gives it an extreme.
            int[] paddings = new int[2 * x.rank()];
            paddings[2 * axis + 1] = 1;
            x = block.op("pad").in("X", x).attr("paddings", paddings).attr("pad_value", Float.NEGATIVE_INFINITY)
                    .out("Out");
        }
        Ref place = block.op("arg_max").in("X", x).attr("axis", axis).attr("keepdims", true)
                .attr("dtype", DType.INT64).out("Out");
        Ref zeros = block.op("fill_zeros_like").in("X", x).out("Out");
        Ref ones = block.op("fill_any_like").in("X", place).attr("value", 1).attr("dtype", x.dtype()).out("Out");
        Ref chosen = block.op("put_along_axis").in("Input", zeros).in("Index", place).in("Value", ones)
                .attr("Axis", axis).out("Result");
        return open ? block.slice(chosen, axis, 0, -1) : chosen;
    }
}
