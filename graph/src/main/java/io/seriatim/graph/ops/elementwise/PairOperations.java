package io.seriatim.graph.ops.elementwise;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.Dims;
import io.seriatim.graph.ops.common.Term;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.ComplexPart;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.Unary;
import java.util.List;

/**
 * Operations of two tensors: extremes that skip NaN, angles, steps, interpolation, and nearness.
 */
public final class PairOperations {
    private PairOperations() {
    }

    public static void register(Operations registry) {
        extreme(registry, "elementwise_fmax", Binary.Function.GREATER_EQUAL);
        extreme(registry, "elementwise_fmin", Binary.Function.LESS_EQUAL);
        heaviside(registry);
        angle(registry);
        lerp(registry);
        near(registry, "isclose");
        near(registry, "allclose");
        equalAll(registry);
    }

    public static void requireOneType(Inference inference, String first, String second) {
        inference.require(inference.dtype(first) == inference.dtype(second),
                "%s and %s must have one type, but are %s and %s: cast one",
                first, second, inference.dtype(first), inference.dtype(second));
    }

    private static void broadcast(Inference inference) {
        requireOneType(inference, "X", "Y");
        inference.set("Out", inference.dtype("X"), inference.broadcast(inference.dims("X"), inference.dims("Y")));
    }

    /** The gradient of one input, summed over the dimensions that broadcasting repeated. */
    public static void back(Lowering l, String slot, Term gradient) {
        if (l.wants(slot + "@GRAD")) {
            l.out(slot + "@GRAD", Dims.sumTo(l, gradient.operand(), l.in(slot).shape().dims()));
        }
    }

    private static void extreme(Operations registry, String type, Binary.Function relation) {
        Operation.define(type).in("X", "Y").out("Out").attr("axis", -1).infer(PairOperations::broadcast)
                .lower(l -> first(l, relation).choose(Term.of(l, "X"), Term.of(l, "Y")).to("Out"))
                .grad(type + "_grad(X, Y, Out@GRAD) -> X@GRAD, Y@GRAD", l -> {
                    Term dout = Term.of(l, "Out@GRAD");
                    Term first = first(l, relation);
                    back(l, "X", first.orZero(dout));
                    back(l, "Y", first.choose(dout.number(0), dout));
                }).register(registry);
    }

    /** Whether X is taken. */
    private static Term first(Lowering l, Binary.Function relation) {
        Term x = Term.of(l, "X");
        Term y = Term.of(l, "Y");
        Term first = x.is(relation, y);
        return x.operand().dtype().isFloating() ? first.or(y.unary(Unary.Function.IS_NAN)) : first;
    }

    private static void heaviside(Operations registry) {
        Operation.define("elementwise_heaviside").in("X", "Y").out("Out").attr("axis", -1)
                .infer(PairOperations::broadcast).lower(l -> {
                    Term x = Term.of(l, "X");
                    Term step = x.isAbove(0).choose(x.number(1), x.number(0));
                    x.is(Binary.Function.EQUAL, x.number(0)).choose(Term.of(l, "Y"), step).to("Out");
                }).grad("elementwise_heaviside_grad(X, Y, Out@GRAD) -> X@GRAD, Y@GRAD", l -> {
                    Term x = Term.of(l, "X");
                    if (l.wants("X@GRAD")) {
                        l.out("X@GRAD", l.fill(0, x.operand().spec()));
                    }
                    back(l, "Y", x.is(Binary.Function.EQUAL, x.number(0)).orZero(Term.of(l, "Out@GRAD")));
                }).register(registry);
    }

    private static void angle(Operations registry) {
        Operation.define("atan2").in("X1", "X2").out("Out").infer(inference -> {
            requireOneType(inference, "X1", "X2");
            inference.require(
                    inference.dtype("X1").isFloating() && sameShape(inference.dims("X1"), inference.dims("X2")),
                    "X1 and X2 must be of one shape and a floating-point type, but are %s and %s of %s",
                    Numbers.text(inference.dims("X1")),
                    Numbers.text(inference.dims("X2")), inference.dtype("X1"));
            inference.same("X1", "Out");
        }).lower(l -> ElementaryOperations.combine(l, "X1", "X2", "Out", Math::atan2, null))
                .grad("atan2_grad(X1, X2, Out@GRAD) -> X1@GRAD, X2@GRAD", l -> {
                    Operand dout = l.in("Out@GRAD");
                    Operand y = l.in("X1");
                    Operand x = l.in("X2");
                    Term square = new Term(l, ElementaryOperations.combined(l, y, x, (a, b) -> a * a + b * b,
                            (a, b) -> a.times(a).plus(b.times(b))));
                    Term scaled = new Term(l, dout).over(square);
                    if (l.wants("X1@GRAD")) {
                        scaled.times(new Term(l, x)).to("X1@GRAD");
                    }
                    if (l.wants("X2@GRAD")) {
                        scaled.times(new Term(l, y)).linear(-1, 0).to("X2@GRAD");
                    }
                }).register(registry);
    }

    public static boolean sameShape(long[] a, long[] b) {
        boolean same = a.length == b.length;
        for (int i = 0; same && i < a.length; i++) {
            same = a[i] < 0 || b[i] < 0 || a[i] == b[i];
        }
        return same;
    }

    private static void lerp(Operations registry) {
        Operation.define("lerp").in("X", "Y", "Weight").out("Out").infer(inference -> {
            requireOneType(inference, "X", "Y");
            requireOneType(inference, "X", "Weight");
            inference.set("Out", inference.dtype("X"),
                    inference.broadcast(inference.broadcast(inference.dims("X"), inference.dims("Y")),
                            inference.dims("Weight")));
        }).lower(l -> {
            Term x = Term.of(l, "X");
            x.plus(Term.of(l, "Weight").times(Term.of(l, "Y").minus(x))).to("Out");
        }).grad("lerp_grad(X, Y, Weight, Out, Out@GRAD) -> X@GRAD, Y@GRAD", l -> {
            Term dout = Term.of(l, "Out@GRAD");
            Term weight = Term.of(l, "Weight");
            back(l, "X", dout.times(weight.linear(-1, 1)));
            back(l, "Y", dout.times(weight));
        }).register(registry);
    }

    private static void near(Operations registry, String type) {
        boolean all = type.equals("allclose");
        Operation.define(type).in("Input", "Other", "Rtol?", "Atol?").out("Out").attr("rtol", "1e-5")
                .attr("atol", "1e-8")
                .attr("equal_nan", false).values("Rtol", "Atol").infer(inference -> {
                    requireOneType(inference, "Input", "Other");
                    inference.require(sameShape(inference.dims("Input"), inference.dims("Other")),
                            "Input and Other must have one shape");
                    inference.set("Out", DType.BOOL, all ? new long[0] : inference.dims("Input"));
                }).lower(l -> {
                    Term near = near(l);
                    (all
                            ? new Term(l,
                                    l.run(new Reduction(Reduction.Function.ALL, List.of(), false), near.operand()))
                            : near).to("Out");
                }).register(registry);
    }

    private static Term near(Lowering l) {
        DType wide = l.in("Input").dtype().isComplex() ? DType.COMPLEX128 : DType.FLOAT64;
        Term a = new Term(l, l.cast(l.in("Input"), wide));
        Term b = new Term(l, l.cast(l.in("Other"), wide));
        Term size = size(b);
        Term limit = size.times(size.number(tolerance(l, "Rtol", "rtol")))
                .plus(size.number(tolerance(l, "Atol", "atol")));
        Term near = size(a.minus(b)).is(Binary.Function.LESS_EQUAL, limit)
                .or(a.is(Binary.Function.EQUAL, b));
        return l.attrs().getBool("equal_nan")
                ? near.or(a.unary(Unary.Function.IS_NAN).and(b.unary(Unary.Function.IS_NAN)))
                : near;
    }

    private static Term size(Term x) {
        return x.operand().dtype().isComplex()
                ? new Term(x.l(), x.l().run(new ComplexPart(ComplexPart.Function.MAGNITUDE), x.operand()))
                : x.unary(Unary.Function.ABS);
    }

    private static double tolerance(Lowering l, String slot, String attribute) {
        double[] given = l.numbers(slot);
        return given != null && given.length > 0 ? given[0] : Double.parseDouble(l.attrs().getText(attribute));
    }

    private static void equalAll(Operations registry) {
        Operation.define("equal_all").in("X", "Y").out("Out").infer(inference -> {
            requireOneType(inference, "X", "Y");
            inference.set("Out", DType.BOOL);
        }).lower(l -> {
            if (l.in("X").shape().equals(l.in("Y").shape())) {
                Operand equal = l.binary(Binary.Function.EQUAL, l.in("X"), l.in("Y"));
                l.out("Out", l.run(new Reduction(Reduction.Function.ALL, List.of(), false), equal));
            } else {
                l.out("Out", l.number(DType.BOOL, 0));
            }
        }).register(registry);
    }
}
