package io.seriatim.onnx.schema;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.Unary;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Reductions along axes that a tensor gives, of all types, and of no elements: for all that Paddle's reductions do not
 * have.
 */
final class ReductionSchemas {
    /** What is computed. */
    enum Function {
        SUM, MEAN, MAX, MIN, PROD, L1, L2, LOG_SUM, LOG_SUM_EXP, SUM_SQUARE;

        static Function of(Lowering l) {
            return valueOf(l.attrs().getText("function").toUpperCase(Locale.ROOT));
        }

        /** Whether it is of floating-point numbers in any case. */
        boolean isReal() {
            return switch (this) {
                case SUM, MAX, MIN, PROD, L1, SUM_SQUARE -> false;
                case MEAN, L2, LOG_SUM, LOG_SUM_EXP -> true;
            };
        }
    }

    private ReductionSchemas() {
    }

    static void register(Operations registry) {
        Operation.define("onnx_reduce").in("X", "Axes?").out("Out").required("function", Attribute.Text.class)
                .attr("keepdims", true).attr("noop_with_empty_axes", false).values("Axes")
                .refuse((_, attrs) -> Arrays.stream(Function.values())
                        .anyMatch(each -> each.name().equalsIgnoreCase(attrs.getText("function")))
                                ? null
                                : "the attribute function must be one of " + Arrays.toString(Function.values())
                                        + ", but is '" + attrs.getText("function") + "'")
                .infer(ReductionSchemas::infer).lower(ReductionSchemas::lower)
                .grad("onnx_reduce_grad(X, Axes, Out@GRAD) -> X@GRAD").register(registry);
    }

    private static void infer(Inference inference) {
        long[] dims = inference.dims("X");
        boolean keep = inference.attrs().getBool("keepdims");
        long[] axes = inference.has("Axes") ? inference.values("Axes") : new long[0];
        if (axes == null) {
            long count = inference.dims("Axes")[0];
            boolean noop = inference.attrs().getBool("noop_with_empty_axes");
            inference.require(keep || (count >= 0 && (count > 0 || noop || dims.length == 0)) || count == 0,
                    "the number of axes must be known if they are not kept: declare the length of Axes or the shape of the "
                            + "result in the file, or give the length of an input when the model is loaded");
            long left = keep ? dims.length : count == 0 ? noop ? dims.length : 0 : dims.length - count;
            inference.require(left >= 0, "there are %d axes to be reduced, but X has %d", count, dims.length);
            long[] unknown = new long[(int) left];
            Arrays.fill(unknown, -1);
            inference.set("Out", inference.dtype("X"), unknown);
            return;
        }
        boolean[] reduced = reduced(dims.length, axes, inference.attrs().getBool("noop_with_empty_axes"), inference);
        long[] result = new long[dims.length];
        int rank = 0;
        for (int i = 0; i < dims.length; i++) {
            if (!reduced[i] || keep) {
                result[rank++] = reduced[i] ? 1 : dims[i];
            }
        }
        inference.set("Out", inference.dtype("X"), Arrays.copyOf(result, rank));
    }

    private static boolean[] reduced(int rank, long[] axes, boolean noop, Inference inference) {
        boolean[] reduced = new boolean[rank];
        Arrays.fill(reduced, axes.length == 0 && !noop);
        for (long axis : axes) {
            reduced[inference.axis("X", axis)] = true;
        }
        return reduced;
    }

    private static void lower(Lowering l) {
        Operand x = l.in("X");
        boolean keep = l.attrs().getBool("keepdims");
        long[] given = l.has("Axes") ? l.values("Axes") : new long[0];
        if (given == null) {
            throw new IllegalStateException("Operation 'onnx_reduce' is lowered before its axes are known");
        }
        List<Integer> axes = new ArrayList<>();
        for (long axis : given) {
            axes.add(x.shape().axis((int) axis));
        }
        if (given.length == 0 && !l.attrs().getBool("noop_with_empty_axes")) {
            for (int i = 0; i < x.rank(); i++) {
                axes.add(i);
            }
        }
        Function function = Function.of(l);
        DType dtype = x.dtype();
        Operand wide = function.isReal() && !dtype.isFloating() ? l.cast(x, DType.FLOAT64) : x;
        if (dtype == DType.BOOL) {
            wide = l.cast(x, DType.UINT8);
        }
        l.out("Out", l.cast(of(l, function, wide, axes, keep), dtype));
    }

    private static Operand of(Lowering l, Function function, Operand x, List<Integer> axes, boolean keep) {
        return switch (function) {
            case SUM -> reduce(l, Reduction.Function.SUM, x, axes, keep);
            case PROD -> reduce(l, Reduction.Function.PRODUCT, x, axes, keep);
            case MEAN -> mean(l, x, axes, keep);
            case MAX -> extreme(l, Reduction.Function.MAX, x, axes, keep);
            case MIN -> extreme(l, Reduction.Function.MIN, x, axes, keep);
            case L1 -> reduce(l, Reduction.Function.SUM_OF_MAGNITUDES, x, axes, keep);
            case SUM_SQUARE -> reduce(l, Reduction.Function.SUM_OF_SQUARES, x, axes, keep);
            case L2 -> l.unary(Unary.Function.SQRT, reduce(l, Reduction.Function.SUM_OF_SQUARES, x, axes, keep));
            case LOG_SUM -> l.unary(Unary.Function.LOG, reduce(l, Reduction.Function.SUM, x, axes, keep));
            case LOG_SUM_EXP -> reduce(l, Reduction.Function.LOG_SUM_EXP, x, axes, keep);
        };
    }

    private static Operand reduce(Lowering l, Reduction.Function function, Operand x, List<Integer> axes,
            boolean keep) {
        if (axes.isEmpty()) {
            return alone(l, function, x);
        }
        return l.run(new Reduction(function, axes, keep), x);
    }

    /** Each element is a set of its own. */
    private static Operand alone(Lowering l, Reduction.Function function, Operand x) {
        return switch (function) {
            case SUM_OF_MAGNITUDES -> l.unary(Unary.Function.ABS, x);
            case SUM_OF_SQUARES -> l.unary(Unary.Function.SQUARE, x);
            default -> x;
        };
    }

    /** Of no elements, not a number. */
    private static Operand mean(Lowering l, Operand x, List<Integer> axes, boolean keep) {
        double count = 1;
        for (int axis : axes) {
            count *= x.dim(axis);
        }
        Operand sum = reduce(l, Reduction.Function.SUM, x, axes, keep);
        return l.binary(Binary.Function.DIVIDE, sum, l.number(sum.dtype(), count));
    }

    /** Of no elements, the least or the largest number of the type. */
    private static Operand extreme(Lowering l, Reduction.Function function, Operand x, List<Integer> axes,
            boolean keep) {
        boolean empty = axes.stream().anyMatch(axis -> x.dim(axis) == 0);
        if (!empty) {
            return reduce(l, function, x, axes, keep);
        }
        Shape shape = new Reduction(function, axes, keep).infer(x.spec())[0].shape();
        return l.copy(l.expand(l.constant(end(x.dtype(), function == Reduction.Function.MAX)), shape));
    }

    private static Tensor end(DType dtype, boolean least) {
        if (dtype.isFloating()) {
            return Tensor.of(dtype, new double[]{least ? Double.NEGATIVE_INFINITY : Double.POSITIVE_INFINITY});
        }
        int width = 8 * dtype.bytes();
        long largest = dtype.isUnsigned() ? -1L : -1L >>> (65 - width);
        return Tensor.of(dtype, new long[]{least ? dtype.isUnsigned() ? 0 : ~largest : largest});
    }
}
