package io.seriatim.graph.ops.reduction;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.Axes;
import io.seriatim.graph.ops.common.Term;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.Reduction.Function;
import io.seriatim.tensor.computation.ReductionGrad;
import io.seriatim.tensor.computation.Unary;
import java.util.List;

/** Reductions along axes. */
public final class ReductionOperations {
    private static final int NOT_GIVEN = -1;

    private ReductionOperations() {
    }

    public static void register(Operations registry) {
        sums(registry, "reduce_sum", Function.SUM);
        sums(registry, "reduce_mean", Function.MEAN);
        chosen(registry, "reduce_max", Function.MAX);
        chosen(registry, "reduce_min", Function.MIN);
        chosen(registry, "reduce_prod", Function.PRODUCT);
        shared(registry, "reduce_amax", Function.MAX);
        shared(registry, "reduce_amin", Function.MIN);
        frobenius(registry);
        tests(registry, "reduce_all", Function.ALL);
        tests(registry, "reduce_any", Function.ANY);
        mean(registry);
    }

    private static Operation.Builder define(String type, Object dim, String... inputs) {
        return Operation.define(type).in(inputs).out("Out").attr("dim", dim).attr("keep_dim", false)
                .attr("reduce_all", false)
                .attr("in_dtype", NOT_GIVEN).attr("out_dtype", NOT_GIVEN);
    }

    private static void infer(Inference inference, DType dtype) {
        Axes reduced = Axes.of(inference, "X", inference.attrs().getLongs("dim"),
                inference.attrs().getBool("reduce_all"));
        inference.set("Out", dtype, reduced.apply(inference.dims("X"), inference.attrs().getBool("keep_dim")));
    }

    private static List<Integer> axes(Lowering l, Shape shape) {
        return Axes.of(shape, l.attrs().getLongs("dim"), l.attrs().getBool("reduce_all"));
    }

    private static Reduction reduction(Lowering l, Function function, Shape shape) {
        return new Reduction(function, axes(l, shape), l.attrs().getBool("keep_dim"));
    }

    /** The sum of truth values and of 32-bit whole numbers has 64 bits. */
    private static DType sumType(Inference inference) {
        DType x = inference.dtype("X");
        if (inference.attrs().getInt("out_dtype") != NOT_GIVEN) {
            return inference.attrs().getDType("out_dtype");
        }
        return x == DType.BOOL || x == DType.INT32 ? DType.INT64 : x;
    }

    private static DType meanType(Inference inference) {
        return inference.dtype("X").isComplex() ? inference.dtype("X") : floating(inference, "the mean is");
    }

    private static DType floating(Inference inference, String what) {
        DType dtype = inference.dtype("X");
        inference.require(dtype.isFloating(), "%s of floating-point numbers, but X is %s; cast it", what, dtype);
        return dtype;
    }

    /** Reductions whose gradient is the same for all elements, so that it needs X's shape only, and is linear. */
    private static void sums(Operations registry, String type, Function function) {
        boolean mean = function == Function.MEAN;
        Operation.Builder forward = define(type, new int[]{0}, "X");
        String gradient = type + "_grad(X, Out@GRAD) -> X@GRAD";
        forward.gradOperation(gradient, null).shapesOnly("X").lower(l -> spread(l, mean))
                .grad(type + "(X=X@GRAD@GRAD) -> Out=Out@GRAD@GRAD")
                .register(registry);
        if (!mean) {
            forward.shapeArithmetic();
        }
        forward.infer(inference -> infer(inference, mean ? meanType(inference) : sumType(inference))).lower(l -> {
            Operand x = l.cast(l.in("X"), l.outType("Out", 0).dtype());
            l.out("Out", l.run(reduction(l, function, x.shape()), x));
        }).grad(gradient).register(registry);
    }

    private static void spread(Lowering l, boolean mean) {
        Shape shape = l.outType("X@GRAD", 0).spec().shape();
        List<Integer> axes = axes(l, shape);
        Operand dout = l.cast(l.in("Out@GRAD"), l.outType("X@GRAD", 0).dtype());
        long count = Math.max(1, Axes.count(shape, axes));
        Operand each = mean && count > 1
                ? l.binary(Binary.Function.DIVIDE, dout, l.number(dout.dtype(), (double) count))
                : dout;
        l.out("X@GRAD", each.reshape(Axes.kept(shape, axes).dims()).expand(shape));
    }

    private static void chosen(Operations registry, String type, Function function) {
        define(type, new int[]{0}, "X").shapeArithmetic().infer(inference -> infer(inference, inference.dtype("X")))
                .lower(l -> {
                    Operand x = l.in("X");
                    l.out("Out", x.shape().size() == 0 && function != Function.PRODUCT
                            ? l.copy(l.expand(l.constant(extreme(x.dtype(), function)), l.output("Out").shape()))
                            : l.run(reduction(l, function, x.shape()), x));
                }).grad(type + "_grad(X, Out, Out@GRAD) -> X@GRAD", l -> {
                    Operand x = l.in("X");
                    if (x.shape().size() == 0) {
                        l.out("X@GRAD", l.fill(0, x.spec()));
                        return;
                    }
                    l.out("X@GRAD",
                            l.run(new ReductionGrad(reduction(l, function, x.shape())), x, l.in("Out"),
                                    l.in("Out@GRAD")));
                }).register(registry);
    }

    /**
     * What is the extreme of no elements: −∞ or ∞, of whole numbers the least or the greatest. PaddlePaddle refuses it,
     * but a program for open sizes may meet it.
     */
    private static Tensor extreme(DType dtype, Function function) {
        boolean least = function == Function.MAX;
        if (dtype.isFloating()) {
            return Tensor.of(dtype, new double[]{least ? Double.NEGATIVE_INFINITY : Double.POSITIVE_INFINITY});
        }
        if (dtype == DType.BOOL || dtype.isUnsigned()) {
            return Tensor.of(dtype, new long[]{least ? 0 : dtype == DType.BOOL ? 1 : -1});
        }
        long greatest = Long.MAX_VALUE >>> (Long.SIZE - 8 * dtype.bytes());
        return Tensor.of(dtype, new long[]{least ? ~greatest : greatest});
    }

    /** Extremes whose gradient is shared evenly by all elements that are equal to them. */
    private static void shared(Operations registry, String type, Function function) {
        define(type, new long[]{0}, "X", "AxisTensor?", "AxisTensorList*?")
                .infer(inference -> infer(inference, inference.dtype("X")))
                .lower(l -> l.out("Out", l.run(reduction(l, function, l.in("X").shape()), l.in("X"))))
                .grad(type + "_grad(AxisTensor, AxisTensorList, Out, X, Out@GRAD) -> X@GRAD", l -> {
                    Term x = Term.of(l, "X");
                    List<Integer> axes = axes(l, x.operand().shape());
                    Operand ones = l.cast(x.is(Binary.Function.EQUAL, kept(l, "Out", axes)).operand(),
                            x.operand().dtype());
                    Term count = new Term(l, l.run(new Reduction(Function.SUM, axes, true), ones));
                    new Term(l, ones).times(kept(l, "Out@GRAD", axes)).over(count).to("X@GRAD");
                }).register(registry);
    }

    private static Term kept(Lowering l, String slot, List<Integer> axes) {
        return new Term(l, l.reshape(l.in(slot), Axes.kept(l.in("X").shape(), axes).dims()));
    }

    private static void frobenius(Operations registry) {
        define("frobenius_norm", new int[]{0}, "X")
                .infer(inference -> infer(inference, floating(inference, "the norm is"))).lower(l -> {
                    Operand squares = l.run(reduction(l, Function.SUM_OF_SQUARES, l.in("X").shape()), l.in("X"));
                    l.out("Out", l.unary(Unary.Function.SQRT, squares));
                }).grad("frobenius_norm_grad(Out, X, Out@GRAD) -> X@GRAD", l -> {
                    List<Integer> axes = axes(l, l.in("X").shape());
                    Term.of(l, "X").times(kept(l, "Out@GRAD", axes)).over(kept(l, "Out", axes)).to("X@GRAD");
                }).register(registry);
    }

    /** Paddle declares tensors of axes here, but always takes the attribute. */
    private static void tests(Operations registry, String type, Function function) {
        define(type, new long[]{0}, "X", "AxisTensor?", "AxisTensorList*?")
                .infer(inference -> infer(inference, DType.BOOL)).lower(l -> {
                    Operand x = l.in("X");
                    l.out("Out", l.run(reduction(l, function, x.shape()), x));
                }).register(registry);
    }

    private static void mean(Operations registry) {
        Operation.Builder forward = Operation.define("mean").in("X").out("Out");
        String gradient = "mean_grad(X, Out@GRAD) -> X@GRAD";
        forward.gradOperation(gradient, null).shapesOnly("X").lower(l -> {
            Shape shape = l.outType("X@GRAD", 0).spec().shape();
            Operand dout = l.reshape(l.in("Out@GRAD"));
            l.out("X@GRAD",
                    l.binary(Binary.Function.DIVIDE, dout, l.number(dout.dtype(), (double) Math.max(1, shape.size())))
                            .expand(shape));
        }).register(registry);
        forward.infer(inference -> inference.set("Out", meanType(inference)))
                .lower(l -> l.out("Out", l.run(new Reduction(Function.MEAN, List.of(), false), l.in("X"))))
                .grad(gradient)
                .register(registry);
    }
}
