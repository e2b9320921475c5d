package io.seriatim.graph.ops.ordering;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.Step;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.ops.common.Axes;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Medians of the elements that are numbers. Where their count is even, the median is the mean of two of them, and each
 * gets half of the gradient.
 */
public final class MedianOperations {
    private MedianOperations() {
    }

    public static void register(Operations registry) {
        Operation.define("nanmedian").in("X").out("Out", "MedianIndex~").attr("axis", new int[0]).attr("keepdim", true)
                .infer(MedianOperations::infer).lower(MedianOperations::lower)
                .grad("nanmedian_grad(X, MedianIndex, Out@GRAD) -> X@GRAD", MedianOperations::gradient)
                .register(registry);
    }

    private static void infer(Inference inference) {
        DType dtype = inference.dtype("X");
        inference.require(dtype == DType.FLOAT32 || dtype == DType.FLOAT64 || dtype == DType.INT32
                || dtype == DType.INT64, "X must be float32, float64, int32 or int64, but is %s", dtype);
        long[] dims = inference.dims("X");
        Axes axes = Axes.of(inference, "X", inference.attrs().getLongs("axis"), false);
        inference.set("Out", dtype, axes.apply(dims, inference.attrs().getBool("keepdim")));
        // Paddle allocates two indexes for each element, and infers an unrelated number before the run.
        inference.set("MedianIndex", DType.INT64,
                inference.isForRun() ? 2 * Inference.size(dims) : 2L * dtype.bytes());
    }

    /** The reduced axes last, in order. */
    private static int[] order(Lowering l, int rank) {
        Shape shape = l.in("X").shape();
        List<Integer> reduced = Axes.of(shape, l.attrs().getLongs("axis"), l.attrs().getLongs("axis").length == 0);
        boolean all = reduced.isEmpty();
        return IntStream.concat(IntStream.range(0, rank).filter(i -> !all && !reduced.contains(i)),
                IntStream.range(0, rank).filter(i -> all || reduced.contains(i))).toArray();
    }

    private static void lower(Lowering l) {
        Operand x = l.in("X");
        Operand groups = l.copy(x.transpose(order(l, x.rank())));
        Operand medians = l.temporary(l.outType("Out", 0).spec());
        Operand indexes = l.temporary(TensorSpec.of(DType.INT64, 2 * x.shape().size()));
        l.call("nanmedian", (in, out) -> medians(required(in, 0), required(out, 0), required(out, 1)), List.of(groups),
                List.of(medians, indexes));
        l.out("Out", medians);
        l.out("MedianIndex", indexes);
    }

    private static Tensor required(List<@Nullable Tensor> tensors, int index) {
        return Objects.requireNonNull(tensors.get(index));
    }

    private static void medians(Tensor x, Tensor medians, Tensor indexes) {
        double[] values = x.toDoubleArray();
        long[] places = new long[2 * values.length];
        double[] found = new double[WorkingMemory.length(medians.shape().size())];
        int length = found.length == 0 ? 0 : values.length / found.length;
        for (int group = 0; group < found.length; group++) {
            int start = group * length;
            Integer[] numbers = IntStream.range(0, length).filter(i -> !Double.isNaN(values[start + i])).boxed()
                    .toArray(Integer[]::new);
            Arrays.sort(numbers, Comparator.comparingDouble(i -> values[start + i]));
            int lower = numbers.length == 0 ? -1 : numbers[(numbers.length - 1) / 2];
            int upper = numbers.length == 0 ? -1 : numbers[numbers.length / 2];
            found[group] = lower < 0
                    ? Double.NaN
                    : lower == upper ? values[start + lower] : (values[start + lower] + values[start + upper]) / 2;
            if (2 * group + 1 < places.length) {
                places[2 * group] = lower;
                places[2 * group + 1] = upper;
            }
        }
        Elements.write(found, medians);
        Elements.write(places, indexes);
    }

    private static void gradient(Lowering l) {
        Operand x = l.in("X");
        int[] order = order(l, x.rank());
        long[] dims = new long[order.length];
        int[] back = new int[order.length];
        for (int i = 0; i < order.length; i++) {
            dims[i] = x.dim(order[i]);
            back[order[i]] = i;
        }
        l.out("X@GRAD", spread(l, l.in("MedianIndex"), l.in("Out@GRAD"), dims, false).transpose(back));
    }

    /**
     * Spreads gradients of medians over the elements that they come from. The gradient of that is linear too: it
     * collects them from there.
     */
    private static Operand spread(Lowering l, Operand indexes, Operand from, long[] dims, boolean collects) {
        Operand to = l.temporary(TensorSpec.of(from.dtype(), dims));
        Step.HostFunction function = (in, out) -> {
            long[] places = required(in, 0).toLongArray();
            double[] given = required(in, 1).toDoubleArray();
            double[] result = new double[WorkingMemory.length(required(out, 0).shape().size())];
            int groups = Math.min(given.length, result.length);
            int medians = collects ? result.length : given.length;
            int length = medians == 0 ? 0 : Math.max(given.length, result.length) / medians;
            for (int group = 0; group < groups && length > 0; group++) {
                for (long place : new long[]{places[2 * group], places[2 * group + 1]}) {
                    if (place >= 0) {
                        int at = group * length + Math.toIntExact(Objects.checkIndex(place, length));
                        result[collects ? group : at] += given[collects ? at : group] / 2;
                    }
                }
            }
            Elements.write(result, required(out, 0));
        };
        l.call("nanmedian_grad", new Step.Differentiable(function, (next, in, _, gradients) -> Arrays.asList(null,
                spread(next, in.get(0), Objects.requireNonNull(gradients.getFirst()), from.shape().dims(), !collects))),
                List.of(indexes, from), List.of(to));
        return to;
    }
}
