package io.seriatim.graph.ops.reduction;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.Axes;
import io.seriatim.graph.ops.common.Dims;
import io.seriatim.graph.ops.common.Term;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.Reduction.Function;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.Where;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Norms, distances, slices whose norm is bounded, and the logarithm of a sum of exponentials. */
public final class NormOperations {
    private NormOperations() {
    }

    public static void register(Operations registry) {
        squaredNorm(registry);
        sumOfMagnitudes(registry);
        clipByNorm(registry);
        norm(registry);
        logSumExp(registry);
        renorm(registry);
        normaliseByNorm(registry);
        distance(registry);
    }

    private static void floating(Inference inference) {
        inference.require(inference.dtype("X").isFloating(), "X must be of floating-point numbers, but is %s; cast it",
                inference.dtype("X"));
    }

    private static void squaredNorm(Operations registry) {
        Operation.define("squared_l2_norm").in("X").out("Out").infer(inference -> {
            floating(inference);
            inference.require(inference.in("X").kind() == ArgType.Kind.DENSE,
                    "X must be a tensor, but holds rows; merge_selected_rows and get_tensor_from_selected_rows "
                            + "make one");
            inference.set("Out", inference.dtype("X"), 1);
        }).lower(l -> l.out("Out",
                l.run(new Reduction(Function.SUM_OF_SQUARES, List.of(), false), l.in("X")).reshape(1)))
                .grad("squared_l2_norm_grad(X, Out@GRAD) -> X@GRAD", l -> {
                    Operand twice = l.linear(l.reshape(l.in("Out@GRAD")), 2, 0);
                    l.out("X@GRAD", l.binary(Binary.Function.MULTIPLY, l.in("X"), twice));
                }).register(registry);
    }

    private static void sumOfMagnitudes(Operations registry) {
        Operation.define("l1_norm").in("X").out("Out").infer(inference -> {
            floating(inference);
            inference.set("Out", inference.dtype("X"));
        }).lower(l -> l.out("Out", l.run(new Reduction(Function.SUM_OF_MAGNITUDES, List.of(), false), l.in("X"))))
                .grad("l1_norm_grad(X, Out@GRAD) -> X@GRAD",
                        l -> l.out("X@GRAD", l.binary(Binary.Function.MULTIPLY,
                                l.unary(Unary.Function.SIGN, l.in("X")), l.in("Out@GRAD").reshape())))
                .register(registry);
    }

    private static void clipByNorm(Operations registry) {
        Operation.define("clip_by_norm").in("X").out("Out").required("max_norm", Attribute.Real.class)
                .infer(inference -> {
                    floating(inference);
                    double most = inference.attrs().getDouble("max_norm");
                    inference.require(most > 0, "max_norm must be above 0, but is %s", most);
                    inference.same("X", "Out");
                }).lower(l -> {
                    Operand x = l.in("X");
                    Operand squares = l.isRows("X")
                            ? squaresOfRows(l, x)
                            : l.run(new Reduction(Function.SUM_OF_SQUARES, List.of(), false), x);
                    Operand most = l.number(x.dtype(), l.attrs().getDouble("max_norm"));
                    Operand norm = l.unary(Unary.Function.SQRT, squares);
                    Operand factor = l.binary(Binary.Function.DIVIDE, most,
                            l.binary(Binary.Function.MAXIMUM, norm, most));
                    l.out("Out", l.binary(Binary.Function.MULTIPLY, x, factor));
                    if (l.isRows("X") && l.wants("Out")) {
                        l.into(Copy.PLAIN, List.of(l.rowIndexes("X", 0)), List.of(l.outputRowIndexes("Out")));
                    }
                }).register(registry);
    }

    /** A row that occurs several times is the sum of what it holds. */
    private static Operand squaresOfRows(Lowering l, Operand values) {
        Operand squares = l.temporary(TensorSpec.of(values.dtype()));
        l.call("sum of squares of merged rows", NormOperations::squaresOfMerged, List.of(l.rowIndexes("X", 0), values),
                List.of(squares));
        return squares;
    }

    private static void squaresOfMerged(List<@Nullable Tensor> in, List<@Nullable Tensor> out) {
        long[] rows = Objects.requireNonNull(in.get(0)).toLongArray();
        double[] values = Objects.requireNonNull(in.get(1)).toDoubleArray();
        int width = rows.length == 0 ? 0 : values.length / rows.length;
        Map<Long, double[]> merged = new HashMap<>();
        for (int i = 0; i < rows.length; i++) {
            double[] sum = merged.computeIfAbsent(rows[i], _ -> new double[width]);
            for (int j = 0; j < width; j++) {
                sum[j] += values[i * width + j];
            }
        }
        double squares = 0;
        for (double[] row : merged.values()) {
            for (double value : row) {
                squares += value * value;
            }
        }
        Tensor to = Objects.requireNonNull(out.get(0));
        try (Tensor source = Tensor.of(to.dtype(), new double[]{squares})) {
            MemorySegment.copy(source.memory(), source.offset(), to.memory(), to.offset(), to.spec().bytes());
        }
    }

    private static void norm(Operations registry) {
        Operation.define("p_norm").in("X").out("Out").attr("porder", 2f).attr("axis", -1).attr("epsilon", 1e-12f)
                .attr("keepdim", false)
                .attr("asvector", false).infer(inference -> {
                    floating(inference);
                    boolean all = inference.attrs().getBool("asvector");
                    inference.require(!Double.isNaN(inference.attrs().getDouble("porder")), "porder must be a number");
                    long[] axes = all ? new long[0] : new long[]{inference.attrs().getInt("axis")};
                    inference.set("Out", inference.dtype("X"),
                            Axes.of(inference, "X", axes, all).apply(inference.dims("X"),
                                    inference.attrs().getBool("keepdim")));
                }).lower(l -> {
                    Operand x = l.in("X");
                    l.out("Out", norm(l, x, l.attrs().getFloat("porder"), axes(l, x.shape()))
                            .reshape(l.outType("Out", 0).dims()));
                }).grad("p_norm_grad(X, Out, Out@GRAD) -> X@GRAD", l -> l.out("X@GRAD", normGradient(l)))
                .register(registry);
    }

    private static List<Integer> axes(Lowering l, Shape shape) {
        return Axes.of(shape, new long[]{l.attrs().getInt("axis")}, l.attrs().getBool("asvector"));
    }

    private static Operand norm(Lowering l, Operand x, float order, List<Integer> axes) {
        if (order == 0) {
            Operand counted = l.cast(l.binary(Binary.Function.NOT_EQUAL, x, l.number(x.dtype(), 0)), x.dtype());
            return reduce(l, Function.SUM, axes, counted);
        } else if (Float.isInfinite(order)) {
            return reduce(l, order > 0 ? Function.MAX : Function.MIN, axes, l.unary(Unary.Function.ABS, x));
        } else if (order == 1) {
            return reduce(l, Function.SUM_OF_MAGNITUDES, axes, x);
        } else if (order == 2) {
            return l.unary(Unary.Function.SQRT, reduce(l, Function.SUM_OF_SQUARES, axes, x));
        }
        Operand powers = l.run(new Unary(Unary.Function.POW, order, 0), l.unary(Unary.Function.ABS, x));
        return l.binary(Binary.Function.POWER, reduce(l, Function.SUM, axes, powers), l.number(x.dtype(), 1 / order));
    }

    private static Operand reduce(Lowering l, Function function, List<Integer> axes, Operand x) {
        return l.run(new Reduction(function, axes, true), x);
    }

    private static Operand normGradient(Lowering l) {
        Operand x = l.in("X");
        float order = l.attrs().getFloat("porder");
        long[] kept = Axes.kept(x.shape(), axes(l, x.shape())).dims();
        Operand norm = l.in("Out").reshape(kept);
        Operand dout = l.in("Out@GRAD").reshape(kept);
        if (order == 0) {
            return l.fill(0, x.spec());
        } else if (Float.isInfinite(order)) {
            Operand extreme = l.cast(l.binary(Binary.Function.EQUAL, l.unary(Unary.Function.ABS, x), norm), x.dtype());
            return l.binary(Binary.Function.MULTIPLY,
                    l.binary(Binary.Function.MULTIPLY, l.unary(Unary.Function.SIGN, x), extreme), dout);
        } else if (order == 1) {
            return l.binary(Binary.Function.MULTIPLY, l.unary(Unary.Function.SIGN, x), dout);
        }
        Operand raised = l.binary(Binary.Function.ADD, norm, l.number(x.dtype(), l.attrs().getDouble("epsilon")));
        Operand scale = l.run(new Unary(Unary.Function.POW, 1 - order, 0), raised);
        return l.binary(Binary.Function.MULTIPLY, signedPower(l, x, order - 1),
                l.binary(Binary.Function.MULTIPLY, dout, scale));
    }

    /** sign(x) · |x| to a power other than 0, and 0 at 0, also for negative powers. */
    private static Operand signedPower(Lowering l, Operand x, float power) {
        if (power == 1) {
            return x;
        }
        Operand size = l.unary(Unary.Function.ABS, x);
        Operand value = l.binary(Binary.Function.MULTIPLY, l.unary(Unary.Function.SIGN, x),
                power == 2 ? l.unary(Unary.Function.SQUARE, x) : l.run(new Unary(Unary.Function.POW, power, 0), size));
        Operand zero = l.number(x.dtype(), 0);
        return power > 0 ? value : l.run(new Where(), l.binary(Binary.Function.EQUAL, x, zero), zero, value);
    }

    private static void logSumExp(Operations registry) {
        Operation.define("logsumexp").in("X").out("Out").attr("axis", new int[]{0}).attr("keepdim", false)
                .attr("reduce_all", false)
                .infer(inference -> {
                    floating(inference);
                    Axes axes = Axes.of(inference, "X", inference.attrs().getLongs("axis"),
                            inference.attrs().getBool("reduce_all"));
                    inference.set("Out", inference.dtype("X"),
                            axes.apply(inference.dims("X"), inference.attrs().getBool("keepdim")));
                }).lower(l -> {
                    Operand x = l.in("X");
                    l.out("Out", l.run(
                            new Reduction(Function.LOG_SUM_EXP, logAxes(l, x.shape()), l.attrs().getBool("keepdim")),
                            x));
                }).grad("logsumexp_grad(X, Out, Out@GRAD) -> X@GRAD", l -> {
                    Operand x = l.in("X");
                    long[] kept = Axes.kept(x.shape(), logAxes(l, x.shape())).dims();
                    Operand share = l.unary(Unary.Function.EXP,
                            l.binary(Binary.Function.SUBTRACT, x, l.in("Out").reshape(kept)));
                    l.out("X@GRAD", l.binary(Binary.Function.MULTIPLY, share, l.in("Out@GRAD").reshape(kept)));
                }).register(registry);
    }

    private static List<Integer> logAxes(Lowering l, Shape shape) {
        return Axes.of(shape, l.attrs().getLongs("axis"), l.attrs().getBool("reduce_all"));
    }

    private static void renorm(Operations registry) {
        Operation.define("renorm").in("X").out("Out").required("p", Attribute.Real.class)
                .required("axis", Attribute.Int.class)
                .required("max_norm", Attribute.Real.class).infer(inference -> {
                    floating(inference);
                    Attrs attrs = inference.attrs();
                    inference.require(inference.dims("X").length > 0, "X must have a dimension or more");
                    inference.axis("X", attrs.getInt("axis"));
                    inference.require(attrs.getFloat("p") > 0 && attrs.getFloat("max_norm") >= 0,
                            "p must be above 0 and max_norm 0 or more, but they are %s and %s", attrs.getFloat("p"),
                            attrs.getFloat("max_norm"));
                    inference.same("X", "Out");
                }).lower(l -> {
                    Slices slices = Slices.of(l);
                    Term x = slices.x();
                    l.out("Out", slices.large().choose(x.times(slices.factor()), x).operand().squeeze(0));
                }).grad("renorm_grad(X, Out@GRAD) -> X@GRAD", l -> l.out("X@GRAD", renormGradient(l).squeeze(0)))
                .register(registry);
    }

    /**
     * The slices of X along an axis, with their norms; X has one dimension more, so that there is always one to sum
     * over.
     *
     * @param large
     *            whether a norm is too large
     * @param factor
     *            what a slice is multiplied by then
     */
    private record Slices(Term x, List<Integer> axes, Term norm, Term large, Term factor) {
        static Slices of(Lowering l) {
            Operand x = l.in("X").unsqueeze(0);
            int axis = 1 + l.in("X").shape().axis(l.attrs().getInt("axis"));
            List<Integer> axes = IntStream.range(0, x.rank()).filter(i -> i != axis).boxed().toList();
            Term norm = new Term(l, NormOperations.norm(l, x, l.attrs().getFloat("p"), axes));
            double most = l.attrs().getFloat("max_norm");
            return new Slices(new Term(l, x), axes, norm, norm.isAbove(most), norm.number(most).over(norm));
        }
    }

    /** A factor f = max / norm has the gradient −f / norm · norm', and norm' is sign(x) · (|x| / norm)ᵖ⁻¹. */
    private static Operand renormGradient(Lowering l) {
        Slices slices = Slices.of(l);
        Term x = slices.x();
        Term dout = new Term(l, l.in("Out@GRAD").unsqueeze(0));
        Term along = new Term(l, reduce(l, Function.SUM, slices.axes(), x.times(dout).operand()));
        float power = l.attrs().getFloat("p") - 1;
        Term share = x.over(slices.norm());
        Term slope = power == 0 ? x.unary(Unary.Function.SIGN) : new Term(l, signedPower(l, share.operand(), power));
        Term turned = slope.times(along.times(slices.factor()).over(slices.norm()));
        return slices.large().choose(dout.times(slices.factor()).minus(turned), dout).operand();
    }

    private static void normaliseByNorm(Operations registry) {
        Operation.define("norm").in("X").out("Out", "Norm~").required("axis", Attribute.Int.class)
                .attr("epsilon", 1e-10f)
                .attr("is_test", false).infer(inference -> {
                    long[] dims = inference.dims("X");
                    int axis = inference.axis("X", inference.attrs().getInt("axis"));
                    inference.require(dims.length > 0 && inference.dtype("X").isFloating(),
                            "X must have an axis of floating-point numbers");
                    inference.same("X", "Out");
                    inference.set("Norm", inference.dtype("X"), Dims.with(dims, axis, 1));
                }).lower(l -> {
                    Term x = Term.of(l, "X");
                    Term norm = sum(x.unary(Unary.Function.SQUARE)).plus(x.number(l.attrs().getFloat("epsilon")))
                            .unary(Unary.Function.SQRT);
                    norm.to("Norm");
                    x.over(norm).to("Out");
                }).grad("norm_grad(X, Norm, Out@GRAD) -> X@GRAD", l -> {
                    Term x = Term.of(l, "X");
                    Term norm = Term.of(l, "Norm");
                    Term dout = Term.of(l, "Out@GRAD");
                    Term along = x.times(sum(x.times(dout))).over(norm.unary(Unary.Function.SQUARE));
                    dout.minus(along).over(norm).to("X@GRAD");
                }).register(registry);
    }

    private static Term sum(Term x) {
        Lowering l = x.l();
        int axis = x.operand().shape().axis(l.attrs().getInt("axis"));
        return new Term(l, l.run(new Reduction(Reduction.Function.SUM, List.of(axis), true), x.operand()));
    }

    private static void distance(Operations registry) {
        Operation.define("dist").in("X", "Y").out("Out").attr("p", 2f).infer(inference -> {
            inference.broadcast(inference.dims("X"), inference.dims("Y"));
            inference.require(inference.dtype("X").isFloating() && inference.dtype("X") == inference.dtype("Y"),
                    "X and Y must be of one floating-point type, but are %s and %s", inference.dtype("X"),
                    inference.dtype("Y"));
            inference.require(inference.attrs().getFloat("p") >= 0, "p must be 0 or more, but is %s",
                    inference.attrs().getFloat("p"));
            inference.set("Out", inference.dtype("X"));
        }).lower(l -> {
            Term size = difference(l).unary(Unary.Function.ABS);
            float p = l.attrs().getFloat("p");
            if (p == 0) {
                Term differs = size.is(Binary.Function.NOT_EQUAL, size.number(0));
                Operand differ = l.cast(differs.operand(), size.operand().dtype());
                l.out("Out", all(l, Reduction.Function.SUM, differ));
            } else if (Float.isInfinite(p)) {
                l.out("Out", all(l, Reduction.Function.MAX, size.operand()));
            } else if (p == 1 || p == 2) {
                Operand sum = all(l, p == 1 ? Reduction.Function.SUM : Reduction.Function.SUM_OF_SQUARES,
                        size.operand());
                l.out("Out", p == 1 ? sum : l.unary(Unary.Function.SQRT, sum));
            } else {
                Term sum = new Term(l, all(l, Reduction.Function.SUM, power(size, p).operand()));
                power(sum, 1 / (double) p).to("Out");
            }
        }).grad("dist_grad(X, Y, Out, Out@GRAD) -> X@GRAD, Y@GRAD", l -> {
            Term slope = slope(difference(l)).times(Term.of(l, "Out@GRAD"));
            if (l.wants("X@GRAD")) {
                l.out("X@GRAD", Dims.sumTo(l, slope.operand(), l.in("X").shape().dims()));
            }
            if (l.wants("Y@GRAD")) {
                l.out("Y@GRAD", Dims.sumTo(l, slope.linear(-1, 0).operand(), l.in("Y").shape().dims()));
            }
        }).register(registry);
    }

    private static Term difference(Lowering l) {
        return Term.of(l, "X").minus(Term.of(l, "Y"));
    }

    private static Operand all(Lowering l, Reduction.Function function, Operand x) {
        return l.run(new Reduction(function, List.of(), false), x);
    }

    private static Term power(Term x, double exponent) {
        return new Term(x.l(), x.l().binary(Binary.Function.POWER, x.operand(), x.number(exponent).operand()));
    }

    private static Term slope(Term z) {
        Term out = Term.of(z.l(), "Out");
        float p = z.l().attrs().getFloat("p");
        Term sign = z.unary(Unary.Function.SIGN);
        Term size = z.unary(Unary.Function.ABS);
        if (p == 0) {
            return z.times(z.number(0));
        }
        if (Float.isInfinite(p)) {
            return size.is(Binary.Function.EQUAL, out).orZero(sign);
        }
        Term slope = p == 1 ? sign : p == 2 ? z.over(out) : sign.times(power(size.over(out), p - 1.0));
        return out.isAbove(0).choose(slope, z.number(0));
    }
}
