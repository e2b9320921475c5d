package io.seriatim.graph.ops.activation;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.activation.ActivationOperations.Parameter;
import io.seriatim.graph.ops.common.Alignment;
import io.seriatim.graph.ops.common.DoubleGradient;
import io.seriatim.graph.ops.elementwise.ScaleOperations;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.Unary.Function;
import io.seriatim.tensor.computation.UnaryGrad;
import io.seriatim.tensor.computation.Where;
import java.util.Arrays;

/**
 * Functions of each element with parameters that may be tensors, or with gradients that differ from those of the
 * computations where the function has a kink.
 */
public final class ParametricActivationOperations {
    private static final String CLIP_GRADIENT = "clip_grad(X, Min, Max, Out@GRAD) -> X@GRAD";
    private static final String LEAKY_GRADIENT = "leaky_relu_grad(X, Out@GRAD) -> X@GRAD";
    /** Up to here, and above, ln(1 + eˣ) is x in float64. */
    private static final float EXACT_THRESHOLD = 20;

    private ParametricActivationOperations() {
    }

    public static void register(Operations registry) {
        leakyRelu(registry);
        ActivationOperations.begin("relu6", _ -> new Unary(Function.CLIP, 0, 6))
                .grad("relu6_grad(Out, Out@GRAD) -> X@GRAD", l -> l.out("X@GRAD", within(l, 0, 6))).register(registry);
        ActivationOperations
                .begin("hard_sigmoid",
                        attrs -> new Unary(Function.HARD_SIGMOID, attrs.getFloat("slope"), attrs.getFloat("offset")),
                        new Parameter("slope", 0.2f), new Parameter("offset", 0.5f))
                .grad("hard_sigmoid_grad(Out, Out@GRAD) -> X@GRAD",
                        l -> l.out("X@GRAD", l.linear(within(l, 0, 1), l.attrs().getFloat("slope"), 0)))
                .register(registry);
        ActivationOperations.begin("mish", _ -> Unary.of(Function.MISH), new Parameter("threshold", EXACT_THRESHOLD))
                .lower(ParametricActivationOperations::mish)
                .grad("mish_grad(X, Out@GRAD) -> X@GRAD", ParametricActivationOperations::mishGradient)
                .register(registry);
        clip(registry);
        Operation.define("prelu").in("X", "Alpha").out("Out").attr("data_format", "NCHW").attr("mode", "all")
                .infer(ParametricActivationOperations::inferPrelu).lower(ParametricActivationOperations::prelu)
                .grad("prelu_grad(X, Alpha, Out@GRAD) -> X@GRAD, Alpha@GRAD",
                        ParametricActivationOperations::preluGradient)
                .register(registry);
    }

    private static void leakyRelu(Operations registry) {
        ActivationOperations.Chosen chosen = attrs -> new Unary(Function.LEAKY_RELU, attrs.getFloat("alpha"), 0);
        Operation.Builder builder = ActivationOperations.begin("leaky_relu", chosen, new Parameter("alpha", 0.02f));
        Operation.Builder gradient = builder.gradOperation(LEAKY_GRADIENT, null)
                .lower(ParametricActivationOperations::leakyReluGradient);
        builder.grad(LEAKY_GRADIENT).register(registry);
        DoubleGradient.LEAKY_RELU.register(registry, gradient, ActivationOperations.slope(chosen, false));
    }

    /** The slope at 0 is 1. */
    private static void leakyReluGradient(Lowering l) {
        Operand x = l.in("X");
        Operand dout = l.in("Out@GRAD");
        Operand below = l.binary(Binary.Function.LESS, x, l.number(x.dtype(), 0));
        l.out("X@GRAD", l.run(new Where(), below, l.linear(dout, l.attrs().getFloat("alpha"), 0), dout));
    }

    /** The gradient where the result is within bounds. */
    private static Operand within(Lowering l, float least, float most) {
        return l.run(new UnaryGrad(Function.CLIP, least, most), l.in("Out"), null, l.in("Out@GRAD"));
    }

    private static void mish(Lowering l) {
        Operand x = l.in("X");
        float threshold = l.attrs().getFloat("threshold");
        l.out("Out", threshold >= EXACT_THRESHOLD
                ? l.unary(Function.MISH, x)
                : l.binary(Binary.Function.MULTIPLY, x,
                        l.unary(Function.TANH, l.run(new Unary(Function.SOFTPLUS, 1, threshold), x))));
    }

    /**
     * The slope, with s = softplus(x) and t = tanh(s): t + x · (1 − t²) · (1 − e⁻ˢ), in Paddle also above the
     * threshold.
     */
    private static void mishGradient(Lowering l) {
        Operand x = l.in("X");
        Operand dout = l.in("Out@GRAD");
        float threshold = l.attrs().getFloat("threshold");
        if (threshold >= EXACT_THRESHOLD) {
            l.out("X@GRAD", l.run(UnaryGrad.of(Unary.of(Function.MISH)), x, null, dout));
            return;
        }
        Operand s = l.run(new Unary(Function.SOFTPLUS, 1, threshold), x);
        Operand t = l.unary(Function.TANH, s);
        Operand slope = l.linear(l.unary(Function.EXP, l.unary(Function.NEGATE, s)), -1, 1);
        Operand curve = l.binary(Binary.Function.MULTIPLY, l.linear(l.unary(Function.SQUARE, t), -1, 1), slope);
        Operand sum = l.binary(Binary.Function.ADD, t, l.binary(Binary.Function.MULTIPLY, x, curve));
        l.out("X@GRAD", l.binary(Binary.Function.MULTIPLY, dout, sum));
    }

    private static void clip(Operations registry) {
        Operation.Builder builder = Operation.define("clip").in("X", "Min?", "Max?").out("Out")
                .required("min", Attribute.Real.class)
                .required("max", Attribute.Real.class).infer(ParametricActivationOperations::inferClip).lower(l -> {
                    ScaleOperations.copyRowIndexes(l);
                    l.out("Out", clipped(l));
                });
        String second = "clip_double_grad(X, Min, Max, grad_x@GRAD=X@GRAD@GRAD) -> grad_out@GRAD=Out@GRAD@GRAD";
        builder.gradOperation(CLIP_GRADIENT, null).lower(l -> l.out("X@GRAD", inside(l, l.in("Out@GRAD"))))
                .grad(second, l -> l.out("grad_out@GRAD", inside(l, l.in("grad_x@GRAD")))).register(registry);
        builder.grad(CLIP_GRADIENT).register(registry);
    }

    private static void inferClip(Inference inference) {
        ScaleOperations.requireNumber(inference, "Min");
        ScaleOperations.requireNumber(inference, "Max");
        double least = inference.attrs().getDouble("min");
        double most = inference.attrs().getDouble("max");
        inference.require(least <= most || inference.has("Min") || inference.has("Max"),
                "max must be at least min, but is %s, and min %s",
                most,
                least);
        inference.require(inference.dtype("X") != DType.BOOL, "truth values have no order: cast X");
        inference.same("X", "Out");
    }

    private static Operand clipped(Lowering l) {
        Operand x = l.in("X");
        if (!l.has("Min") && !l.has("Max")) {
            return l.run(new Unary(Function.CLIP, l.attrs().getFloat("min"), l.attrs().getFloat("max")), x);
        }
        Operand atLeast = l.binary(Binary.Function.MAXIMUM, x, bound(l, "Min", "min", x.dtype()));
        return l.binary(Binary.Function.MINIMUM, atLeast, bound(l, "Max", "max", x.dtype()));
    }

    private static Operand bound(Lowering l, String slot, String attribute, DType dtype) {
        return l.has(slot) ? l.cast(l.in(slot).reshape(), dtype) : l.number(dtype, l.attrs().getDouble(attribute));
    }

    private static Operand inside(Lowering l, Operand gradient) {
        Operand x = l.in("X");
        if (!l.has("Min") && !l.has("Max")) {
            return l.run(new UnaryGrad(Function.CLIP, l.attrs().getFloat("min"), l.attrs().getFloat("max")), x, null,
                    gradient);
        }
        Operand above = l.binary(Binary.Function.GREATER, x, bound(l, "Min", "min", x.dtype()));
        Operand below = l.binary(Binary.Function.LESS, x, bound(l, "Max", "max", x.dtype()));
        return l.run(new Where(), l.binary(Binary.Function.LOGICAL_AND, above, below), gradient,
                l.number(x.dtype(), 0));
    }

    private static void inferPrelu(Inference inference) {
        long[] x = inference.dims("X");
        long[] alpha = inference.dims("Alpha");
        long size = Inference.size(alpha);
        String mode = inference.attrs().getText("mode");
        inference.require(inference.dtype("X") == inference.dtype("Alpha"), "X and Alpha must have one type");
        switch (mode) {
            case "all" ->
                inference.require(size < 0 || size == 1, "of the mode all, Alpha must have one element, but is %s",
                        Numbers.text(alpha));
            case "channel" -> {
                inference.require(x.length > 1, "of the mode channel, X must have two dimensions or more, but is %s",
                        Numbers.text(x));
                long channels = x[channelAxis(inference.attrs(), x.length)];
                inference.require(size < 0 || channels < 0 || size == channels,
                        "of the mode channel, Alpha must have one element for each of the %d channels, but is %s",
                        channels,
                        Numbers.text(alpha));
            }
            case "element" -> {
                inference.require(x.length > 0 && alpha.length == x.length,
                        "of the mode element, Alpha must have as many dimensions as X, but is %s beside %s",
                        Numbers.text(alpha),
                        Numbers.text(x));
                long each = Inference.size(Arrays.copyOfRange(x, 1, x.length));
                inference.require(size < 0 || each < 0 || size == each,
                        "of the mode element, Alpha must have as many elements as one of the batch of X, but is %s "
                                + "beside %s",
                        Numbers.text(alpha),
                        Numbers.text(x));
            }
            default -> throw inference.error("the mode must be all, channel or element, but is '" + mode + "'");
        }
        inference.same("X", "Out");
    }

    private static int channelAxis(Attrs attrs, int rank) {
        return attrs.getText("data_format").endsWith("C") ? rank - 1 : 1;
    }

    /** Alpha with dimensions that broadcast to those of X. */
    private static Operand alpha(Lowering l) {
        Operand alpha = l.in("Alpha");
        long[] dims = l.in("X").shape().dims();
        return switch (l.attrs().getText("mode")) {
            case "channel" -> {
                int axis = channelAxis(l.attrs(), dims.length);
                long[] ones = new long[dims.length - axis];
                Arrays.fill(ones, 1);
                ones[0] = dims[axis];
                yield alpha.reshape(ones);
            }
            case "element" -> alpha.reshape(Arrays.copyOfRange(dims, 1, dims.length));
            default -> alpha.reshape();
        };
    }

    private static void prelu(Lowering l) {
        l.out("Out", l.binary(Binary.Function.PRELU, l.in("X"), alpha(l)));
    }

    private static void preluGradient(Lowering l) {
        Operand x = l.in("X");
        Operand dout = l.in("Out@GRAD");
        Operand alpha = alpha(l);
        Operand zero = l.number(x.dtype(), 0);
        Operand positive = l.binary(Binary.Function.GREATER, x, zero);
        if (l.wants("X@GRAD")) {
            l.out("X@GRAD", l.run(new Where(), positive, dout, l.binary(Binary.Function.MULTIPLY, dout, alpha)));
        }
        if (l.wants("Alpha@GRAD")) {
            Operand each = l.run(new Where(), positive, zero, l.binary(Binary.Function.MULTIPLY, x, dout));
            l.out("Alpha@GRAD",
                    l.reshape(Alignment.summed(l, each, alpha.shape().dims()), l.outType("Alpha@GRAD", 0).dims()));
        }
    }
}
