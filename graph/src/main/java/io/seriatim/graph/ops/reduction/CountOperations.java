package io.seriatim.graph.ops.reduction;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.Dims;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Gather;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** How often numbers are there: each for itself, in ranges, and in a row. */
public final class CountOperations {
    private static final Set<DType> WHOLE = Set.of(DType.INT32, DType.INT64);
    private static final long MOST = 1 << 26;

    private CountOperations() {
    }

    public static void register(Operations registry) {
        occurrences(registry);
        histogram(registry);
        consecutive(registry);
    }

    private static void occurrences(Operations registry) {
        Operation.define("bincount").in("X", "Weights?").out("Out").attr("minlength", 0).values("X")
                .infer(inference -> {
                    long[] dims = inference.dims("X");
                    inference.require(WHOLE.contains(inference.dtype("X")) && dims.length == 1,
                            "X must be a vector of int32 or int64, but is %s with %d dimensions", inference.dtype("X"),
                            dims.length);
                    int least = inference.attrs().getInt("minlength");
                    inference.require(least >= 0, "minlength must be 0 or more, but is %d", least);
                    boolean weighted = inference.has("Weights");
                    inference.require(!weighted || fits(inference.dims("Weights"), dims),
                            "there must be a weight for each of the numbers, %s",
                            Arrays.toString(dims));
                    // What Paddle computes; where it infers other types, of int32 without weights and of whole weights,
                    // it
                    // contradicts itself.
                    DType sums = weighted && inference.dtype("Weights") == DType.FLOAT32
                            ? DType.FLOAT32
                            : DType.FLOAT64;
                    inference.set("Out", weighted ? sums : DType.INT64, length(inference, least));
                }).lower(l -> {
                    Operand out = l.temporary(l.outType("Out", 0).spec());
                    l.call("bincount", (in, to) -> {
                        long[] x = tensor(in.get(0)).toLongArray();
                        Tensor weights = in.size() > 1 ? in.get(1) : null;
                        Elements.write(
                                counts(x, weights == null ? null : weights.toDoubleArray(),
                                        Math.toIntExact(out.dim(0))),
                                tensor(to.getFirst()));
                    }, l.has("Weights") ? List.of(l.in("X"), l.in("Weights")) : List.of(l.in("X")), List.of(out));
                    l.out("Out", out);
                }).register(registry);
    }

    private static boolean fits(long[] weights, long[] numbers) {
        return weights.length == 1 && (weights[0] < 0 || numbers[0] < 0 || weights[0] == numbers[0]);
    }

    /** As in Paddle, without numbers there are no counts, whatever minlength says. */
    private static long length(Inference inference, int least) {
        long[] values = inference.values("X");
        if (values == null) {
            return -1;
        }
        long smallest = Arrays.stream(values).min().orElse(0);
        long largest = Arrays.stream(values).max().orElse(-1);
        inference.require(smallest >= 0, "the numbers to be counted must be 0 or more, but one is %d", smallest);
        inference.require(largest < MOST, "the largest number, %d, is too large: there would be a count for each below",
                largest);
        return values.length == 0 ? 0 : Math.max(least, largest + 1);
    }

    private static double[] counts(long[] x, double @Nullable [] weights, int length) {
        double[] counts = new double[length];
        for (int i = 0; i < x.length; i++) {
            counts[Math.toIntExact(x[i])] += weights == null ? 1 : weights[i];
        }
        return counts;
    }

    private static Tensor tensor(@Nullable Tensor tensor) {
        return Objects.requireNonNull(tensor);
    }

    private static void histogram(Operations registry) {
        Operation.define("histogram").in("X").out("Out").attr("bins", 100L).attr("min", 0).attr("max", 0)
                .infer(inference -> {
                    DType dtype = inference.dtype("X");
                    inference.require(dtype == DType.FLOAT32 || dtype == DType.FLOAT64 || WHOLE.contains(dtype),
                            "X must be float32, float64, int32 or int64, but is %s", dtype);
                    long bins = inference.attrs().getLong("bins");
                    inference.require(bins >= 1 && bins <= MOST, "bins must be from 1 to %d, but is %d", MOST, bins);
                    int min = inference.attrs().getInt("min");
                    int max = inference.attrs().getInt("max");
                    inference.require(max >= min, "max must not be less than min, but they are %d and %d", max, min);
                    inference.set("Out", DType.INT64, bins);
                }).lower(l -> {
                    int bins = l.attrs().getInt("bins");
                    int min = l.attrs().getInt("min");
                    int max = l.attrs().getInt("max");
                    boolean narrow = l.in("X").dtype() == DType.FLOAT32;
                    Operand out = l.temporary(l.outType("Out", 0).spec());
                    l.call("histogram",
                            (in, to) -> Elements.write(
                                    histogram(tensor(in.getFirst()).toDoubleArray(), bins, min, max, narrow),
                                    tensor(to.getFirst())),
                            List.of(l.in("X")), List.of(out));
                    l.out("Out", out);
                }).register(registry);
    }

    /** The last range contains its end. Numbers outside, and those that are none, are not counted. */
    private static long[] histogram(double[] x, int bins, double min, double max, boolean narrow) {
        double low = min == max ? Arrays.stream(x).min().orElse(0) : min;
        double high = min == max ? Arrays.stream(x).max().orElse(0) : max;
        if (!Double.isFinite(low) || !Double.isFinite(high)) {
            throw new IllegalArgumentException(
                    "Operation 'histogram': the numbers reach from " + low + " to " + high
                            + ", which has no ranges; give min and max");
        }
        boolean same = low == high;
        double from = same ? low - 1 : low;
        double to = same ? high + 1 : high;
        long[] counts = new long[bins];
        for (double value : x) {
            if (value >= from && value <= to) {
                // In the type of X, so that a number at the end of a range is counted where Paddle counts it.
                double place = narrow
                        ? (float) (value - from) * bins / (float) (to - from)
                        : (value - from) * bins / (to - from);
                counts[Math.min((int) place, bins - 1)]++;
            }
        }
        return counts;
    }

    /** Elements, or parts along an axis, of which no one equals the one before it. */
    private static void consecutive(Operations registry) {
        Operation.define("unique_consecutive").in("X").out("Out", "Index?", "Counts?").attr("return_inverse", false)
                .attr("return_counts", false).attr("axis", new int[0]).attr("dtype", 5).values("X").infer(inference -> {
                    int[] axes = Dims.axes(inference, "X", inference.attrs().getLongs("axis"));
                    inference.require(axes.length <= 1, "axis must name at most one dimension, but is %s",
                            Arrays.toString(axes));
                    long[] dims = axes.length == 0
                            ? new long[]{Inference.size(inference.dims("X"))}
                            : inference.dims("X");
                    int axis = axes.length == 0 ? 0 : axes[0];
                    Values values = Values.of(inference.dtype("X"), inference.values("X"), inference.numbers("X"));
                    long count = values == null ? -1 : firsts(values, dims, axis).length;
                    inference.set("Out", inference.dtype("X"), Dims.with(dims, axis, count));
                    if (inference.outputs("Index") + inference.outputs("Counts") > 0) {
                        DType places = inference.attrs().getDType("dtype");
                        inference.require(WHOLE.contains(places), "dtype must be int32 or int64, but is %s", places);
                        inference.set("Index", places, dims[axis]);
                        inference.set("Counts", places, count);
                    }
                }).lower(CountOperations::consecutive).register(registry);
    }

    private static void consecutive(Lowering l) {
        Operand x = l.in("X");
        long[] axes = l.attrs().getLongs("axis");
        Operand flat = axes.length == 0 ? x.reshape(x.shape().size()) : x;
        int axis = axes.length == 0 ? 0 : x.shape().axis(Math.toIntExact(axes[0]));
        Values values = Objects.requireNonNull(Values.of(x.dtype(), l.values("X"), l.numbers("X")));
        long[] firsts = firsts(values, flat.shape().dims(), axis);
        l.out("Out", l.run(new Gather(axis, Gather.NO_PADDING), flat, l.constant(Tensor.of(firsts, firsts.length))));
        int length = Math.toIntExact(flat.dim(axis));
        long[] index = new long[length];
        long[] counts = new long[firsts.length];
        for (int i = 0, group = -1; i < length; i++) {
            group += group + 1 < firsts.length && firsts[group + 1] == i ? 1 : 0;
            index[i] = group;
            counts[group]++;
        }
        places(l, "Index", index);
        places(l, "Counts", counts);
    }

    private static void places(Lowering l, String slot, long[] places) {
        if (l.wants(slot)) {
            l.out(slot, l.constant(Tensor.of(l.outType(slot, 0).dtype(), places, places.length)));
        }
    }

    /** Where along an axis a part begins that differs from the one before. */
    private static long[] firsts(Values values, long[] dims, int axis) {
        int inner = Math.toIntExact(Inference.size(Arrays.copyOfRange(dims, axis + 1, dims.length)));
        int outer = Math.toIntExact(Inference.size(Arrays.copyOf(dims, axis)));
        int length = Math.toIntExact(dims[axis]);
        List<Long> firsts = new ArrayList<>();
        for (int i = 0; i < length; i++) {
            if (i == 0 || values.differ(i, outer, length, inner)) {
                firsts.add((long) i);
            }
        }
        return firsts.stream().mapToLong(Long::longValue).toArray();
    }

    /** Elements that are compared as what they are: whole numbers may be too large for fractions. */
    private static final class Values {
        private final long @Nullable [] whole;
        private final double[] numbers;

        private Values(long @Nullable [] whole, double[] numbers) {
            this.whole = whole;
            this.numbers = numbers;
        }

        static @Nullable Values of(DType dtype, long @Nullable [] whole, double @Nullable [] numbers) {
            return numbers == null ? null : new Values(dtype.isFloating() ? null : whole, numbers);
        }

        /** Whether the part at an index is not the one before. */
        boolean differ(int index, int outer, int length, int inner) {
            for (int i = 0; i < outer; i++) {
                int start = (i * length + index) * inner;
                for (int at = start; at < start + inner; at++) {
                    if (whole == null ? numbers[at] != numbers[at - inner] : whole[at] != whole[at - inner]) {
                        return true;
                    }
                }
            }
            return false;
        }
    }
}
