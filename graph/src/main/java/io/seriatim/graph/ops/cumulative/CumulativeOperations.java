package io.seriatim.graph.ops.cumulative;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.Step;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.ops.common.ElementOrder;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.graph.ops.common.Lines;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.PutAlongAxis;
import io.seriatim.tensor.computation.Scan;
import io.seriatim.tensor.computation.TakeAlongAxis;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * Running values along an axis: sums, products, maxima and minima, and logarithms of sums of exponentials.
 */
public final class CumulativeOperations {
    private static final double LN2 = Math.log(2);

    private CumulativeOperations() {
    }

    public static void register(Operations registry) {
        extreme(registry, "cummax", true);
        extreme(registry, "cummin", false);
        logSumExp(registry);
        cumulativeSum(registry);
        cumulativeProduct(registry);
    }

    private static void extreme(Operations registry, String type, boolean largest) {
        String gradient = type + "_grad(x, indices, out@GRAD) -> x@GRAD";
        Operation.Builder forward = Operation.define(type).in("x").out("out", "indices").attr("axis", -1)
                .attr("dtype", 3)
                .infer(CumulativeOperations::inferExtreme).lower(l -> extreme(l, largest));
        forward.gradOperation(gradient, null).shapesOnly("x").lower(l -> {
            Operand dout = l.in("out@GRAD");
            l.out("x@GRAD", dout.rank() == 0
                    ? dout
                    : l.run(new PutAlongAxis(l.attrs().getInt("axis"), true), l.fill(0, dout.spec()), l.in("indices"),
                            dout));
        }).register(registry);
        forward.grad(gradient).register(registry);
    }

    private static void inferExtreme(Inference inference) {
        DType dtype = inference.attrs().getDType("dtype");
        inference.require(dtype == DType.INT64 || dtype == DType.INT32, "dtype must be int32 or int64, but is %s",
                dtype);
        inference.require(inference.dtype("x") != DType.BOOL, "x must be of numbers, but is bool: cast it");
        inference.axis("x", inference.attrs().getInt("axis"));
        inference.same("x", "out");
        inference.set("indices", dtype, inference.dims("x"));
    }

    private static void extreme(Lowering l, boolean largest) {
        Operand x = l.in("x");
        DType dtype = l.attrs().getDType("dtype");
        if (x.rank() == 0) {
            l.out("out", x);
            l.out("indices", l.number(dtype, 0));
            return;
        }
        int axis = l.attrs().getInt("axis");
        Lines lines = Lines.of(x, axis);
        Operand places = l.temporary(x.spec().with(dtype));
        l.call(l.type(), (in, out) -> {
            Tensor values = Objects.requireNonNull(in.getFirst());
            Elements.write(places(ElementOrder.of(values, largest), largest, lines),
                    Objects.requireNonNull(out.getFirst()));
        }, List.of(x), List.of(places));
        if (l.wants("out")) {
            l.out("out", l.run(new TakeAlongAxis(axis), x, places));
        }
        l.out("indices", places);
    }

    /** The index of the extreme of all elements up to each one; of equal elements the last. */
    private static long[] places(ElementOrder order, boolean largest, Lines lines) {
        long[] places = new long[WorkingMemory.length(lines.size())];
        for (int i = 0; i < places.length; i++) {
            int at = lines.place(i);
            if (at > 0) {
                int before = Math.toIntExact(places[i - lines.inner()]);
                int compared = order.compare(i, i + (before - at) * lines.inner());
                places[i] = (largest ? compared >= 0 : compared <= 0) ? at : before;
            }
        }
        return places;
    }

    private static void logSumExp(Operations registry) {
        String gradient = "logcumsumexp_grad(Out, X, Out@GRAD) -> X@GRAD";
        Operation.Builder forward = Operation.define("logcumsumexp").in("X").out("Out").attr("axis", -1)
                .attr("flatten", false)
                .attr("exclusive", false).attr("reverse", false).infer(inference -> {
                    long[] dims = inference.dims("X");
                    boolean flat = inference.attrs().getBool("flatten");
                    inference.require(inference.dtype("X").isFloating(),
                            "X must be of a floating-point type, but is %s: cast it",
                            inference.dtype("X"));
                    if (!flat) {
                        inference.axis("X", inference.attrs().getInt("axis"));
                    }
                    inference.set("Out", inference.dtype("X"), flat ? new long[]{Inference.size(dims)} : dims);
                }).lower(CumulativeOperations::logSumExp);
        forward.gradOperation(gradient, null).shapesOnly("Out").lower(CumulativeOperations::logSumExpGradient)
                .register(registry);
        forward.grad(gradient).register(registry);
    }

    /** The lines along which an operation runs. A flattened tensor and one without dimensions are a single line. */
    private static Lines lines(Lowering l, Operand x) {
        int size = Math.toIntExact(x.shape().size());
        return l.attrs().getBool("flatten") || x.rank() == 0
                ? new Lines(size, 1, size)
                : Lines.of(x, l.attrs().getInt("axis"));
    }

    private static void logSumExp(Lowering l) {
        Operand x = l.in("X");
        Lines lines = lines(l, x);
        boolean exclusive = l.attrs().getBool("exclusive");
        boolean reverse = l.attrs().getBool("reverse");
        Operand sums = l.temporary(x.spec());
        l.call("logcumsumexp", (in, out) -> {
            double[] logs = logs(Objects.requireNonNull(in.getFirst()).toDoubleArray(), lines, reverse);
            Elements.write(exclusive ? shifted(logs, lines, reverse, lowest(x.dtype())) : logs,
                    Objects.requireNonNull(out.getFirst()));
        }, List.of(x), List.of(sums));
        l.out("Out", sums.reshape(l.outType("Out", 0).dims()));
    }

    /** Paddle's value for the logarithm of an empty sum. */
    private static double lowest(DType dtype) {
        return switch (dtype) {
            case FLOAT64 -> -Double.MAX_VALUE;
            case FLOAT16 -> -65504;
            case BFLOAT16 -> -0x1.fep127;
            default -> -Float.MAX_VALUE;
        };
    }

    private static double[] logs(double[] x, Lines lines, boolean reverse) {
        double[] logs = new double[x.length];
        for (int i = 0; i < x.length; i++) {
            int at = lines.element(i, reverse);
            logs[at] = i % lines.length() == 0 ? x[at] : sum(logs[lines.element(i - 1, reverse)], x[at]);
        }
        return logs;
    }

    /** ln(eᵃ + eᵇ). */
    private static double sum(double a, double b) {
        return a == b ? a + LN2 : Math.max(a, b) + Math.log1p(Math.exp(-Math.abs(a - b)));
    }

    /** Each element at the next place of its line. */
    private static double[] shifted(double[] values, Lines lines, boolean reverse, double first) {
        double[] shifted = new double[values.length];
        for (int i = 0; i < values.length; i++) {
            shifted[lines.element(i, reverse)] = i % lines.length() == 0
                    ? first
                    : values[lines.element(i - 1, reverse)];
        }
        return shifted;
    }

    private static void logSumExpGradient(Lowering l) {
        Operand x = l.in("X");
        Lines lines = lines(l, x);
        boolean exclusive = l.attrs().getBool("exclusive");
        boolean reverse = l.attrs().getBool("reverse");
        Operand gradient = l.temporary(TensorSpec.of(x.dtype(), x.shape().dims()));
        Step.HostFunction values = (in, out) -> {
            double[] dout = Objects.requireNonNull(in.get(1)).toDoubleArray();
            double[] given = exclusive ? shifted(dout, lines, !reverse, 0) : dout;
            Elements.write(backward(Objects.requireNonNull(in.get(0)).toDoubleArray(), given, lines, reverse),
                    Objects.requireNonNull(out.getFirst()));
        };
        l.call("logcumsumexp_grad", new Step.Expandable(values, (steps, in) -> List.of(
                RunningGradients.ofLogarithms(steps, in.get(0), in.get(1), lines, exclusive, reverse))),
                List.of(x, l.in("Out@GRAD")), List.of(gradient));
        l.out("X@GRAD", gradient);
    }

    /**
     * The gradient of x is the sum of dout · exp(x − logarithm) over all places that x is part of, in which no
     * exponential is above 1.
     */
    private static double[] backward(double[] x, double[] dout, Lines lines, boolean reverse) {
        double[] logs = logs(x, lines, reverse);
        double[] sums = new double[x.length];
        for (int i = 0; i < x.length; i++) {
            int at = lines.element(i, !reverse);
            int next = i % lines.length() == 0 ? at : lines.element(i - 1, !reverse);
            sums[at] = dout[at] + (next == at ? 0 : sums[next] * ratio(logs[at], logs[next]));
        }
        Arrays.setAll(sums, i -> sums[i] * ratio(x[i], logs[i]));
        return sums;
    }

    /** exp(a − b), also of equal infinities. */
    private static double ratio(double a, double b) {
        return a == b ? 1 : Math.exp(a - b);
    }

    private static void cumulativeSum(Operations registry) {
        Operation.Builder forward = Operation.define("cumsum").in("X").out("Out").attr("axis", -1)
                .attr("flatten", false)
                .attr("exclusive", false).attr("reverse", false);
        String gradient = "cumsum_grad(X, Out@GRAD) -> X@GRAD";
        forward.gradOperation(gradient, null).shapesOnly("X")
                .lower(l -> l.out("X@GRAD", scan(l, l.in("Out@GRAD"), true).reshape(l.outType("X@GRAD", 0).dims())))
                .register(registry);
        forward.infer(inference -> {
            long[] dims = inference.dims("X");
            boolean flat = inference.attrs().getBool("flatten");
            inference.require(inference.dtype("X") != DType.BOOL, "X must be of numbers, but is bool; cast it");
            if (!flat) {
                inference.axis("X", inference.attrs().getInt("axis"));
            }
            inference.set("Out", inference.dtype("X"), flat ? new long[]{Inference.size(dims)} : dims);
        }).lower(l -> {
            Operand x = l.in("X");
            l.out("Out", scan(l, l.attrs().getBool("flatten") ? x.reshape(x.shape().size()) : x, false));
        }).grad(gradient).register(registry);
    }

    private static Operand scan(Lowering l, Operand x, boolean backwards) {
        boolean exclusive = l.attrs().getBool("exclusive");
        if (x.rank() == 0) { // Paddle adds up nothing, also where the element itself does not count.
            return l.copy(x);
        }
        int axis = l.attrs().getBool("flatten") ? 0 : l.attrs().getInt("axis");
        return l.run(new Scan(axis, exclusive, l.attrs().getBool("reverse") != backwards), x);
    }

    private static void cumulativeProduct(Operations registry) {
        Operation.define("cumprod").in("X").out("Out").required("dim", Attribute.Int.class).infer(inference -> {
            inference.axis("X", inference.attrs().getInt("dim"));
            inference.require(inference.dtype("X") != DType.BOOL, "X must be of numbers, but is bool: cast it");
            inference.same("X", "Out");
        }).lower(l -> {
            Operand x = l.in("X");
            long length = x.rank() == 0 ? 1 : x.dim(l.attrs().getInt("dim"));
            long inner = inner(l, x);
            Operand result = l.temporary(x.spec());
            l.call("cumprod", (in, out) -> {
                double[] values = Objects.requireNonNull(in.getFirst()).toDoubleArray();
                for (int i = 0; i < values.length; i++) {
                    values[i] *= i / inner % length == 0 ? 1 : values[(int) (i - inner)];
                }
                Elements.write(values, Objects.requireNonNull(out.getFirst()));
            }, List.of(x), List.of(result));
            l.out("Out", result);
        }).grad("cumprod_grad(X, Out, Out@GRAD) -> X@GRAD", l -> {
            Operand x = l.in("X");
            long length = x.rank() == 0 ? 1 : x.dim(l.attrs().getInt("dim"));
            long inner = inner(l, x);
            Operand result = l.temporary(x.spec());
            Step.HostFunction values = (in, out) -> Elements.write(
                    productGradient(Objects.requireNonNull(in.get(0)).toDoubleArray(),
                            Objects.requireNonNull(in.get(1)).toDoubleArray(),
                            (int) length, (int) inner),
                    Objects.requireNonNull(out.getFirst()));
            Lines lines = new Lines(Math.toIntExact(length), Math.toIntExact(inner),
                    Math.toIntExact(x.shape().size()));
            l.call("cumprod_grad", new Step.Expandable(values, (steps, in) -> List.of(
                    RunningGradients.ofProducts(steps, in.get(0), in.get(1), lines))),
                    List.of(x, l.in("Out@GRAD")), List.of(result));
            l.out("X@GRAD", result);
        }).register(registry);
    }

    private static long inner(Lowering l, Operand x) {
        long inner = 1;
        for (int i = x.rank() - 1; x.rank() > 0 && i > x.shape().axis(l.attrs().getInt("dim")); i--) {
            inner *= x.dim(i);
        }
        return inner;
    }

    /** By the products of all but one element, so that zeros need no rule of their own. */
    private static double[] productGradient(double[] x, double[] dout, int length, int inner) {
        double[] dx = new double[x.length];
        for (int i = 0; i < x.length; i++) {
            int first = i - i / inner % length * inner;
            double others = 1;
            for (int k = first; k < first + length * inner; k += inner) {
                others *= k == i ? 1 : x[k];
                dx[i] += k >= i ? dout[k] * others : 0;
            }
        }
        return dx;
    }
}
