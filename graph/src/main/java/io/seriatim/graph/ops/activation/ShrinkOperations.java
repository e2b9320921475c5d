package io.seriatim.graph.ops.activation;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.Dims;
import io.seriatim.graph.ops.common.Term;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.computation.ArgReduction;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.PutAlongAxis;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.UnaryGrad;
import java.util.List;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Activation functions that are put together from others: shrinking, thresholds, scaled ones, and the largest of
 * several channels.
 */
public final class ShrinkOperations {
    private static final float SELU_SCALE = 1.050701f;
    private static final float SELU_ALPHA = 1.6732632f;

    private ShrinkOperations() {
    }

    public static void register(Operations registry) {
        masked(registry);
        smooth(registry);
        scaled(registry);
        softRelu(registry);
        maxout(registry);
    }

    private static void masked(Operations registry) {
        define("brelu",
                l -> l.run(new Unary(Unary.Function.CLIP, l.attrs().getFloat("t_min"), l.attrs().getFloat("t_max")),
                        l.in("X")),
                x -> inside(x).orZero(gradient(x))).attr("t_min", 0f).attr("t_max", 24f).register(registry);
        define("hard_shrink", l -> {
            Term x = Term.of(l, "X");
            double bound = l.attrs().getFloat("threshold");
            // NaN is not inside.
            Term inside = atLeast(x, -bound).and(atMost(x, bound));
            return inside.choose(x.number(0), x).operand();
        }, x -> outside(x, "threshold").orZero(gradient(x))).attr("threshold", 0.5f).register(registry);
        define("softshrink", l -> {
            Term x = Term.of(l, "X");
            float by = l.attrs().getFloat("lambda");
            Term below = atLeast(x, -by).choose(x.number(0), x.linear(1, by));
            return x.isAbove(by).choose(x.linear(1, -by), below).operand();
        }, x -> outside(x, "lambda").orZero(gradient(x))).attr("lambda", 0.5f).register(registry);
        define("thresholded_relu", l -> {
            Term x = Term.of(l, "X");
            return atMost(x, l.attrs().getFloat("threshold")).choose(x.number(0), x).operand();
        }, x -> x.isAbove(x.l().attrs().getFloat("threshold")).orZero(gradient(x))).attr("threshold", 1f)
                .register(registry);
    }

    private static Term atLeast(Term x, double bound) {
        return x.is(Binary.Function.GREATER_EQUAL, x.number(bound));
    }

    private static Term atMost(Term x, double bound) {
        return x.is(Binary.Function.LESS_EQUAL, x.number(bound));
    }

    private static Term inside(Term x) {
        Attrs attrs = x.l().attrs();
        return x.isAbove(attrs.getFloat("t_min")).and(x.isBelow(attrs.getFloat("t_max")));
    }

    private static Term outside(Term x, String attribute) {
        float bound = x.l().attrs().getFloat(attribute);
        return x.isAbove(bound).or(x.isBelow(-bound));
    }

    private static void smooth(Operations registry) {
        define("tanh_shrink", l -> Term.of(l, "X").minus(Term.of(l, "X").unary(Unary.Function.TANH)).operand(),
                x -> gradient(x).times(x.unary(Unary.Function.TANH).unary(Unary.Function.SQUARE))).register(registry);
        define("softsign", l -> Term.of(l, "X").over(softsignDivisor(Term.of(l, "X"))).operand(),
                x -> gradient(x).over(softsignDivisor(x).unary(Unary.Function.SQUARE))).register(registry);
        define("logsigmoid", l -> l.unary(Unary.Function.NEGATE,
                l.run(new Unary(Unary.Function.SOFTPLUS, 1, 20), l.unary(Unary.Function.NEGATE, l.in("X")))),
                x -> gradient(x).times(x.unary(Unary.Function.NEGATE).unary(Unary.Function.SIGMOID)))
                .register(registry);
        define("stanh", l -> scaledTanh(Term.of(l, "X")).linear(l.attrs().getFloat("scale_b"), 0).operand(), x -> {
            Attrs attrs = x.l().attrs();
            double slope = (double) attrs.getFloat("scale_a") * attrs.getFloat("scale_b");
            return gradient(x).times(scaledTanh(x).unary(Unary.Function.SQUARE).linear(-slope, slope));
        }).attr("scale_a", 0.67f).attr("scale_b", 1.7159f).register(registry);
    }

    private static Term softsignDivisor(Term x) {
        return x.unary(Unary.Function.ABS).linear(1, 1);
    }

    private static Term scaledTanh(Term x) {
        return x.linear(x.l().attrs().getFloat("scale_a"), 0).unary(Unary.Function.TANH);
    }

    private static void scaled(Operations registry) {
        Unary unit = new Unary(Unary.Function.ELU, 1, 0);
        define("celu", l -> new Term(l, l.run(unit, shrunk(l))).linear(l.attrs().getFloat("alpha"), 0).operand(), x -> {
            Lowering l = x.l();
            Operand shrunk = shrunk(l);
            return new Term(l, l.run(UnaryGrad.of(unit), shrunk, l.run(unit, shrunk), l.in("Out@GRAD")));
        }).attr("alpha", 1f).second(
                "celu_grad_grad(X, grad_out=Out@GRAD, grad_x@GRAD=X@GRAD@GRAD) -> X@GRAD, grad_out@GRAD=Out@GRAD@GRAD")
                .register(registry);
        start("selu").attr("scale", SELU_SCALE).attr("alpha", SELU_ALPHA).lower(l -> {
            Operand curve = l.run(new Unary(Unary.Function.ELU, l.attrs().getFloat("alpha"), 0), l.in("X"));
            new Term(l, curve).linear(l.attrs().getFloat("scale"), 0).to("Out");
        })
                .grad("selu_grad(Out, Out@GRAD) -> X@GRAD", l -> {
                    Term out = Term.of(l, "Out");
                    float scale = l.attrs().getFloat("scale");
                    Term slope = out.isAbove(0).choose(out.number(scale),
                            out.linear(1, scale * l.attrs().getFloat("alpha")));
                    Term.of(l, "Out@GRAD").times(slope).to("X@GRAD");
                }).register(registry);
    }

    private static Operand shrunk(Lowering l) {
        Term x = Term.of(l, "X");
        return x.over(x.number(l.attrs().getFloat("alpha"))).operand();
    }

    private static Term gradient(Term x) {
        return Term.of(x.l(), "Out@GRAD");
    }

    private static Operation.Builder start(String type) {
        return Operation.define(type).in("X").out("Out").infer(inference -> {
            inference.require(inference.dtype("X").isFloating(),
                    "X must be of a floating-point type, but is %s: cast it",
                    inference.dtype("X"));
            inference.same("X", "Out");
        });
    }

    /**
     * The attributes that are added later are the gradient's, too.
     *
     * @param second
     *            PaddlePaddle's slots for the gradient of the gradient, which is derived; null if it has none
     */
    private record Definition(String type, Operation.Builder forward, Function<Lowering, Operand> value,
            UnaryOperator<Term> slope, @Nullable String second) {
        Definition second(String signature) {
            return new Definition(type, forward, value, slope, signature);
        }

        Definition attr(String name, float byDefault) {
            forward.attr(name, byDefault);
            return this;
        }

        void register(Operations registry) {
            String first = type + "_grad(X, Out@GRAD) -> X@GRAD";
            Operation.Builder gradient = forward.gradOperation(first, null)
                    .lower(l -> slope.apply(Term.of(l, "X")).to("X@GRAD"));
            if (second != null) {
                gradient.grad(second);
            }
            gradient.register(registry);
            forward.lower(l -> l.out("Out", value.apply(l))).grad(first).register(registry);
        }
    }

    private static Definition define(String type, Function<Lowering, Operand> value, UnaryOperator<Term> slope) {
        return new Definition(type, start(type), value, slope, null);
    }

    /** ln(1 + eˣ) of clipped numbers, and its gradient, which is 0 from the largest result on. */
    private static void softRelu(Operations registry) {
        start("soft_relu").attr("threshold", 40f).lower(l -> {
            float threshold = l.attrs().getFloat("threshold");
            Term inside = new Term(l, l.run(new Unary(Unary.Function.CLIP, -threshold, threshold), l.in("X")));
            inside.unary(Unary.Function.EXP).linear(1, 1).unary(Unary.Function.LOG).to("Out");
        }).grad("soft_relu_grad(Out, Out@GRAD) -> X@GRAD", l -> {
            Term out = Term.of(l, "Out");
            float threshold = l.attrs().getFloat("threshold");
            Term slope = out.unary(Unary.Function.NEGATE).unary(Unary.Function.EXP).linear(-1, 1);
            out.isAbove(-threshold).and(out.isBelow(threshold)).orZero(slope.times(Term.of(l, "Out@GRAD")))
                    .to("X@GRAD");
        }).register(registry);
    }

    private static void maxout(Operations registry) {
        Operation.define("maxout").in("X").out("Out").required("groups", Attribute.Int.class).attr("axis", 1)
                .infer(inference -> {
                    long[] dims = inference.dims("X");
                    int axis = inference.axis("X", inference.attrs().getInt("axis"));
                    int groups = inference.attrs().getInt("groups");
                    inference.require(inference.dtype("X").isFloating(),
                            "X must be of a floating-point type, but is %s",
                            inference.dtype("X"));
                    inference.require(dims.length > 0 && groups > 1 && (dims[axis] < 0 || dims[axis] % groups == 0),
                            "groups must be 2 or more and divide the length of axis %d of X, but is %d", axis, groups);
                    inference.set("Out", inference.dtype("X"),
                            Dims.with(dims, axis, dims[axis] < 0 ? -1 : dims[axis] / groups));
                }).lower(l -> {
                    int axis = l.in("X").shape().axis(l.attrs().getInt("axis"));
                    l.out("Out",
                            l.run(new Reduction(Reduction.Function.MAX, List.of(axis + 1), false), grouped(l, axis)));
                }).grad("maxout_grad(Out, X, Out@GRAD) -> X@GRAD", l -> {
                    int axis = l.in("X").shape().axis(l.attrs().getInt("axis"));
                    Operand x = grouped(l, axis);
                    Operand at = l.run(new ArgReduction(true, axis + 1, true), x);
                    Operand dx = l.run(new PutAlongAxis(axis + 1, false), l.fill(0, x.spec()), at,
                            l.in("Out@GRAD").unsqueeze(axis + 1));
                    l.out("X@GRAD", dx.reshape(l.in("X").shape().dims()));
                }).register(registry);
    }

    private static Operand grouped(Lowering l, int axis) {
        Operand x = l.in("X");
        int groups = l.attrs().getInt("groups");
        long[] dims = Dims.inserted(x.shape().dims(), axis + 1, groups);
        dims[axis] /= groups;
        return l.reshape(x, dims);
    }
}
