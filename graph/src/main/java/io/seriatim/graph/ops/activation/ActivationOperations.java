package io.seriatim.graph.ops.activation;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.ComplexNumbers;
import io.seriatim.graph.ops.common.DoubleGradient;
import io.seriatim.graph.ops.common.Rounding;
import io.seriatim.graph.ops.elementwise.ScaleOperations;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.ComplexPart;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.Unary.Function;
import io.seriatim.tensor.computation.UnaryGrad;
import io.seriatim.tensor.computation.Where;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Functions of each element that are one computation. */
public final class ActivationOperations {
    /** Functions that are defined of whole numbers too. */
    private static final Set<Function> WHOLE = EnumSet.of(Function.RELU, Function.SQUARE, Function.ABS, Function.SIGN,
            Function.FLOOR,
            Function.CEIL,
            Function.ROUND);

    /** Functions that give float32 for whole numbers. */
    private static final Set<Function> FROM_WHOLE = EnumSet.of(Function.EXP, Function.LOG);

    /** Functions that are defined of complex numbers too. */
    private static final Set<Function> COMPLEX = EnumSet.of(Function.EXP, Function.LOG, Function.SQRT, Function.SQUARE,
            Function.RECIPROCAL, Function.SIN, Function.COS, Function.TANH, Function.SIGMOID, Function.SWISH);

    /** A function whose gradient reads x, y or both. */
    enum Needs {
        X("X, Out@GRAD"), OUT("Out, Out@GRAD"), BOTH("X, Out, Out@GRAD"), NEITHER("Out@GRAD");

        private final String slots;

        Needs(String slots) {
            this.slots = slots;
        }

        String signature(String type) {
            return type + "_grad(" + slots + ") -> X@GRAD";
        }
    }

    /** Which function, for given attributes. */
    @FunctionalInterface
    interface Chosen {
        Unary of(Attrs attrs);
    }

    /** An attribute of a function. */
    record Parameter(String name, Object byDefault) {
    }

    private ActivationOperations() {
    }

    public static void register(Operations registry) {
        smooth(registry);
        kinked(registry);
        steps(registry);
    }

    private static void smooth(Operations registry) {
        plain(registry, "exp", Function.EXP, Needs.OUT, null);
        plain(registry, "log", Function.LOG, Needs.X, DoubleGradient.LOG);
        plain(registry, "sqrt", Function.SQRT, Needs.OUT, DoubleGradient.SQRT);
        plain(registry, "rsqrt", Function.RSQRT, Needs.OUT, DoubleGradient.RSQRT);
        plain(registry, "square", Function.SQUARE, Needs.X, DoubleGradient.SQUARE);
        plain(registry, "reciprocal", Function.RECIPROCAL, Needs.OUT, null);
        plain(registry, "sigmoid", Function.SIGMOID, Needs.OUT, DoubleGradient.SIGMOID);
        plain(registry, "tanh", Function.TANH, Needs.OUT, DoubleGradient.TANH);
        plain(registry, "sin", Function.SIN, Needs.X, DoubleGradient.SIN);
        plain(registry, "cos", Function.COS, Needs.X, DoubleGradient.COS);
        plain(registry, "erf", Function.ERF, Needs.X, null);
        define(registry, "silu", Needs.BOTH, _ -> new Unary(Function.SWISH, 1, 0), null);
        // Paddle reads no beta here.
        define(registry, "swish", Needs.X, _ -> new Unary(Function.SWISH, 1, 0), null);
        define(registry, "gelu", Needs.X,
                attrs -> Unary.of(attrs.getBool("approximate") ? Function.GELU_TANH : Function.GELU_ERF), null,
                new Parameter("approximate", false));
        define(registry, "softplus", Needs.X,
                attrs -> new Unary(Function.SOFTPLUS, attrs.getFloat("beta"), attrs.getFloat("threshold")),
                DoubleGradient.SOFTPLUS,
                new Parameter("beta", 1f), new Parameter("threshold", 20f));
    }

    private static void kinked(Operations registry) {
        plain(registry, "relu", Function.RELU, Needs.OUT, DoubleGradient.RELU);
        magnitude(registry);
        define(registry, "elu", Needs.BOTH, attrs -> new Unary(Function.ELU, attrs.getFloat("alpha"), 0),
                DoubleGradient.ELU,
                new Parameter("alpha", 1f));
        // Paddle reads none of these parameters.
        define(registry, "hard_swish", Needs.X, _ -> Unary.of(Function.HARD_SWISH), null,
                new Parameter("threshold", 6f),
                new Parameter("scale", 6f), new Parameter("offset", 3f));
    }

    /** Of complex numbers, the absolute value is real. */
    private static void magnitude(Operations registry) {
        Operation.Builder builder = begin("abs", _ -> Unary.of(Function.ABS)).infer(inference -> {
            if (inference.dtype("X").isComplex()) {
                inference.set("Out", 0, inference.in("X").with(inference.dtype("X").real()));
            } else {
                infer(inference, Function.ABS);
            }
        }).lower(l -> {
            ScaleOperations.copyRowIndexes(l);
            Operand x =
                    l.cast(l.in("X"), l.in("X").dtype().isComplex() ? l.in("X").dtype() : l.outType("Out", 0).dtype());
            l.out("Out", magnitude(l, x));
        });
        String signature = Needs.X.signature("abs");
        Operation.Builder gradient = builder.gradOperation(signature, null)
                .lower(l -> l.out("X@GRAD", magnitudeGradient(l, l.in("X"), l.in("Out@GRAD"))));
        builder.grad(signature).register(registry);
        DoubleGradient.ABS.register(registry, gradient,
                (l, x, incoming) -> magnitudeGradient(l, ComplexNumbers.conjugate(l, x), incoming));
    }

    private static Operand magnitude(Lowering l, Operand x) {
        return x.dtype().isComplex()
                ? l.run(new ComplexPart(ComplexPart.Function.MAGNITUDE), x)
                : l.unary(Function.ABS, x);
    }

    /** The gradient times x / |x|, and 0 for 0. */
    private static Operand magnitudeGradient(Lowering l, Operand x, Operand gradient) {
        if (!x.dtype().isComplex()) {
            return l.run(UnaryGrad.of(Unary.of(Function.ABS)), x, null, gradient);
        }
        Operand size = l.cast(magnitude(l, x), x.dtype());
        Operand zero = l.number(x.dtype(), 0);
        Operand quotient = l.binary(Binary.Function.DIVIDE, l.cast(gradient, x.dtype()), size);
        Operand finite = l.run(new Where(), l.binary(Binary.Function.EQUAL, size, zero), zero, quotient);
        return l.binary(Binary.Function.MULTIPLY, finite, x);
    }

    private static void steps(Operations registry) {
        plain(registry, "floor", Function.FLOOR, Needs.NEITHER, null);
        plain(registry, "ceil", Function.CEIL, Needs.NEITHER, null);
        // PaddlePaddle 2 rounds halves away from 0, PaddlePaddle 3 to even numbers: its files have the attribute.
        begin("round", _ -> Unary.of(Function.ROUND), new Parameter("half_to_even", false))
                .lower(l -> l.out("Out", l.attrs().getBool("half_to_even")
                        ? l.unary(Function.ROUND, l.in("X"))
                        : Rounding.awayFromZero(l, l.in("X"))))
                .grad("round_grad(Out@GRAD) -> X@GRAD", l -> l.out("X@GRAD", l.fill(0, l.in("Out@GRAD").spec())))
                .register(registry);
    }

    private static void plain(Operations registry, String type, Function function, Needs needs,
            @Nullable DoubleGradient second) {
        define(registry, type, needs, _ -> Unary.of(function), second);
    }

    /** Registers a function, its gradient, and if there is one its double gradient. */
    private static void define(Operations registry, String type, Needs needs, Chosen chosen,
            @Nullable DoubleGradient second,
            Parameter... parameters) {
        Operation.Builder builder = begin(type, chosen, parameters);
        Operation.Builder gradient = builder.gradOperation(needs.signature(type), null).lower(l -> l.out("X@GRAD",
                l.run(UnaryGrad.of(chosen.of(l.attrs())), l.optional("X"), l.optional("Out"), l.in("Out@GRAD"))));
        builder.grad(needs.signature(type)).register(registry);
        if (second != null) {
            second.register(registry, gradient, slope(chosen, needs == Needs.OUT));
        } else {
            gradient.register(registry);
        }
    }

    /** The slope of a function, given its result or its argument. */
    static DoubleGradient.Slope slope(Chosen chosen, boolean atResult) {
        return (l, point, gradient) -> l.run(UnaryGrad.of(chosen.of(l.attrs())), atResult ? null : point,
                atResult ? point : null,
                gradient);
    }

    /** An operation from X to Out that is one function. */
    static Operation.Builder begin(String type, Chosen chosen, Parameter... parameters) {
        Operation.Builder builder = Operation.define(type).in("X").out("Out");
        for (Parameter parameter : parameters) {
            builder.attr(parameter.name(), parameter.byDefault());
        }
        return builder.infer(inference -> infer(inference, chosen.of(inference.attrs()).function())).lower(l -> {
            ScaleOperations.copyRowIndexes(l);
            l.out("Out", l.run(chosen.of(l.attrs()), l.cast(l.in("X"), l.outType("Out", 0).dtype())));
        });
    }

    private static void infer(Inference inference, Function function) {
        ArgType x = inference.in("X");
        boolean floating = x.dtype().isFloating() || (x.dtype().isComplex() && COMPLEX.contains(function));
        boolean whole = WHOLE.contains(function) && x.dtype() != DType.BOOL;
        inference.require(floating || whole || FROM_WHOLE.contains(function),
                "it is not defined of %s; cast X to a floating-point type",
                x.dtype());
        inference.set("Out", 0, floating || whole ? x : x.with(DType.FLOAT32));
    }
}
