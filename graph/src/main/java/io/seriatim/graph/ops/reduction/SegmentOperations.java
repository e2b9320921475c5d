package io.seriatim.graph.ops.reduction;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.Step;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.ops.common.Checks;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/** Reductions over runs of rows that have one number. */
public final class SegmentOperations {
    private static final String TYPE = "segment_pool";

    private SegmentOperations() {
    }

    public static void register(Operations registry) {
        String signature = TYPE + "_grad(X, SegmentIds, Out, SummedIds, Out@GRAD) -> X@GRAD";
        Operation.define(TYPE).in("X", "SegmentIds").out("Out", "SummedIds?~").values("SegmentIds")
                .attr("pooltype", "SUM").infer(SegmentOperations::infer).lower(SegmentOperations::lower)
                .grad(signature, inference -> inference.same("X", "X@GRAD"), SegmentOperations::gradient)
                .register(registry);
    }

    private static void infer(Inference inference) {
        DType dtype = inference.dtype("X");
        inference.require(dtype == DType.FLOAT32 || dtype == DType.FLOAT64 || dtype == DType.INT32
                || dtype == DType.INT64, "X must be float32, float64, int32 or int64, but is %s", dtype);
        Checks.whole(inference, "SegmentIds");
        long[] x = inference.dims("X");
        inference.require(x.length > 0 && x[0] != 0, "X must have a row or more, but has the shape %s",
                Numbers.text(x));
        String pool = inference.attrs().getText("pooltype");
        inference.require(Set.of("SUM", "MEAN", "MAX", "MIN").contains(pool),
                "pooltype must be SUM, MEAN, MAX or MIN, but is '%s'", pool);
        Checks.elements(inference, "SegmentIds", x[0]);
        long[] ids = inference.values("SegmentIds");
        x[0] = -1;
        if (inference.isForRun() && ids != null) {
            for (int i = 0; i < ids.length; i++) {
                inference.require(ids[i] >= (i == 0 ? 0 : ids[i - 1]),
                        "the numbers in SegmentIds must be 0 or more and not fall, but element %d is %d", i, ids[i]);
            }
            x[0] = Math.addExact(ids[ids.length - 1], 1);
            inference.set("SummedIds", dtype, 0);
        } else if (pool.equals("MEAN")) {
            inference.set("SummedIds", dtype, -1, 1);
        } else {
            inference.asDeclared("SummedIds");
        }
        inference.set("Out", dtype, x);
    }

    private static void lower(Lowering l) {
        String pool = l.attrs().getText("pooltype");
        l.call(TYPE, (in, out) -> {
            Tensor x = Checks.tensor(in, 0);
            double[] values = x.toDoubleArray();
            long[] ids = Checks.tensor(in, 1).toLongArray();
            int width = values.length / ids.length;
            double[] results = new double[WorkingMemory.length(Checks.tensor(out, 0).shape().size())];
            for (int begin = 0, end; begin < ids.length; begin = end) {
                end = end(ids, begin);
                int to = Math.toIntExact(ids[begin] * width);
                for (int j = 0; j < width; j++) {
                    results[to + j] = reduce(pool, values, begin * width + j, end * width, width);
                }
            }
            Elements.write(results, Checks.tensor(out, 0));
        }, List.of(l.in("X"), l.in("SegmentIds")), List.of(l.output("Out")));
    }

    private static int end(long[] ids, int begin) {
        int end = begin + 1;
        while (end < ids.length && ids[end] == ids[begin]) {
            end++;
        }
        return end;
    }

    private static double reduce(String pool, double[] values, int from, int to, int step) {
        double result = values[from];
        for (int at = from + step; at < to; at += step) {
            result = switch (pool) {
                case "MAX" -> Math.max(result, values[at]);
                case "MIN" -> Math.min(result, values[at]);
                default -> result + values[at];
            };
        }
        int rows = Math.ceilDiv(to - from, step);
        return pool.equals("MEAN") ? result / rows : result;
    }

    private static void gradient(Lowering l) {
        String pool = l.attrs().getText("pooltype");
        Operand spread = spread(l, pool, List.of(l.in("X"), l.in("SegmentIds"), l.in("Out"), l.in("Out@GRAD")), false);
        l.out("X@GRAD", spread);
    }

    /**
     * Spreads gradients of segments over their rows; each of several equal largest elements gets the gradient. The
     * gradient of that, with respect to the gradients, is linear too: it collects them from the rows.
     *
     * @param given
     *            rows, their segments, the results, and what is spread or collected
     */
    private static Operand spread(Lowering l, String pool, List<Operand> given, boolean collects) {
        Operand to = l.temporary(given.get(collects ? 2 : 0).spec().rowMajor());
        Step.HostFunction function = (in, out) -> {
            double[] values = Checks.tensor(in, 0).toDoubleArray();
            long[] ids = Checks.tensor(in, 1).toLongArray();
            double[] results = Checks.tensor(in, 2).toDoubleArray();
            double[] from = Checks.tensor(in, 3).toDoubleArray();
            int width = values.length / ids.length;
            double[] sums = new double[collects ? results.length : values.length];
            for (int begin = 0, end; begin < ids.length; begin = end) {
                end = end(ids, begin);
                int of = Math.toIntExact(ids[begin] * width);
                for (int i = begin * width; i < end * width; i++) {
                    int result = of + i % width;
                    double value = from[collects ? i : result];
                    sums[collects ? result : i] += switch (pool) {
                        case "SUM" -> value;
                        case "MEAN" -> value / (end - begin);
                        default -> values[i] == results[result] ? value : 0;
                    };
                }
            }
            Elements.write(sums, Checks.tensor(out, 0));
        };
        l.call(TYPE + "_grad", new Step.Differentiable(function, (next, in, _, gradients) -> {
            Operand gradient = Objects.requireNonNull(gradients.getFirst());
            return Arrays.asList(null, null, null,
                    spread(next, pool, List.of(in.get(0), in.get(1), in.get(2), gradient), !collects));
        }), given, List.of(to));
        return to;
    }
}
