package io.seriatim.graph.ops.reduction;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** How often numbers occur, each for itself or in ranges. */
public final class CountOperations {
    private static final Set<DType> WHOLE = Set.of(DType.INT32, DType.INT64);

    private static final long MOST = 1 << 26;

    private CountOperations() {
    }

    public static void register(Operations registry) {
        occurrences(registry);
        histogram(registry);
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
                            Numbers.text(dims));
                    // The type that Paddle computes. Its inference gives other types for int32 without weights and for
                    // whole weights.
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
        double[] counts = new double[WorkingMemory.length(length)];
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

    /** The last range contains its end. Numbers outside and NaN are not counted. */
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
        long[] counts = new long[WorkingMemory.length(bins)];
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
}
