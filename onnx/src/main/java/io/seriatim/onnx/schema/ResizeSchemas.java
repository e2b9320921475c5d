package io.seriatim.onnx.schema;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Gather;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.Where;
import io.seriatim.tensor.computation.network.LinearResampling;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Images of another size, axis by axis: each element of a result is a weighted sum of elements of the operand. */
final class ResizeSchemas {
    private ResizeSchemas() {
    }

    static void register(Operations registry) {
        Operation.define("onnx_resize").in("X", "Roi?", "Scales?", "Sizes?").out("Out").attr("mode", "nearest")
                .attr("coordinates", "half_pixel").attr("nearest", "round_prefer_floor").attr("cubic_coeff_a", -0.75f)
                .attr("exclude_outside", false).attr("extrapolation_value", 0f).attr("antialias", false)
                .attr("policy", "stretch").attr("axes", new int[0]).values("Roi", "Scales", "Sizes")
                .infer(ResizeSchemas::infer).lower(ResizeSchemas::lower)
                .grad("onnx_resize_grad(X, Roi, Scales, Sizes, Out@GRAD) -> X@GRAD").register(registry);
    }

    /** The scale of each axis that is resized, and the lengths of the result. */
    @SuppressWarnings("ArrayRecordComponent") // it is never compared
    private record Target(double[] scales, long[] dims) {
        static Target of(long[] x, int[] axes, double @Nullable [] scales, long @Nullable [] sizes, String policy) {
            long[] dims = x.clone();
            double[] all = new double[axes.length];
            for (int i = 0; i < axes.length; i++) {
                all[i] = sizes != null
                        ? (double) sizes[i] / Math.max(1, x[axes[i]])
                        : Objects.requireNonNull(scales)[i];
            }
            if (sizes != null && !policy.equals("stretch")) {
                double common = policy.equals("not_larger")
                        ? Arrays.stream(all).min().orElse(1)
                        : Arrays.stream(all).max().orElse(1);
                for (int i = 0; i < axes.length; i++) {
                    all[i] = common;
                    dims[axes[i]] = (long) Math.floor(common * x[axes[i]] + 0.5);
                }
            } else {
                for (int i = 0; i < axes.length; i++) {
                    dims[axes[i]] = sizes != null ? sizes[i] : (long) Math.floor(all[i] * x[axes[i]]);
                }
            }
            return new Target(all, dims);
        }
    }

    private static void infer(Inference inference) {
        long[] x = inference.dims("X");
        int[] axes = inference.attrs().getInts("axes");
        double @Nullable [] scales = inference.numbers("Scales");
        long @Nullable [] sizes = inference.values("Sizes");
        double @Nullable [] roi = inference.numbers("Roi");
        inference.require((scales == null || scales.length == axes.length)
                && (sizes == null || sizes.length == axes.length) && (roi == null || roi.length == 2 * axes.length),
                "there must be one scale or size for each of %d axes, and a region has two numbers for each",
                axes.length);
        inference.require(scales == null || Arrays.stream(scales).allMatch(each -> each > 0 && each < 1e6),
                "scales must be more than 0 and less than a million, but are %s", Numbers.text(scales));
        inference.require(sizes == null || Arrays.stream(sizes).allMatch(each -> each > 0),
                "sizes must be more than 0, but are %s", Numbers.text(sizes));
        long[] dims = x.clone();
        boolean isKnown = scales != null || sizes != null;
        for (int axis : axes) {
            isKnown &= x[axis] >= 0;
        }
        for (int i = 0; i < axes.length; i++) {
            dims[axes[i]] = scales != null && x[axes[i]] >= 0 ? (long) Math.floor(scales[i] * x[axes[i]]) : -1;
            dims[axes[i]] = scales != null && scales[i] == 1 ? x[axes[i]] : dims[axes[i]];
        }
        if (isKnown) {
            dims = Target.of(x, axes, scales, sizes, inference.attrs().getText("policy")).dims();
            for (int axis : axes) {
                inference.require(x[axis] != 0 || dims[axis] == 0, "axis %d must not be empty", axis);
            }
        }
        inference.set("Out", inference.dtype("X"), dims);
    }

    private static void lower(Lowering l) {
        int[] axes = l.attrs().getInts("axes");
        Operand given = l.in("X");
        long[] x = given.shape().dims();
        double[] roi = l.numbers("Roi");
        if (l.output("Out").shape().size() == 0) {
            l.out("Out", l.fill(0, l.output("Out").spec()));
            return;
        }
        Target target = Target.of(x, axes, l.numbers("Scales"), l.values("Sizes"), l.attrs().getText("policy"));
        String mode = l.attrs().getText("mode");
        Resampling resampling = new Resampling(mode, l.attrs().getText("coordinates"), l.attrs().getText("nearest"),
                l.attrs().getDouble("cubic_coeff_a"), l.attrs().getBool("exclude_outside"),
                l.attrs().getBool("antialias"));
        DType dtype = given.dtype();
        DType computed = mode.equals("nearest") || dtype == DType.FLOAT64 ? dtype : DType.FLOAT32;
        Operand result = l.cast(given, computed);
        boolean[][] outside = new boolean[axes.length][];
        for (int i : order(axes, target.scales())) {
            int axis = axes[i];
            double from = roi == null ? 0 : roi[i];
            double to = roi == null ? 1 : roi[i + axes.length];
            Resampling.Axis taps = resampling.axis(x[axis], target.dims()[axis], target.scales()[i], from, to);
            outside[i] = taps.outside();
            boolean same = roi == null && target.scales()[i] == 1;
            result = same || Resampling.isSame(taps, x[axis]) ? result : resampled(l, result, axis, taps);
        }
        for (int i = 0; i < axes.length; i++) {
            result = extrapolated(l, result, axes[i], outside[i]);
        }
        if (Arrays.equals(x, target.dims()) && computed == dtype) {
            l.into(Copy.PLAIN, List.of(result), List.of(l.output("Out")));
        } else {
            l.out("Out", l.cast(result, dtype));
        }
    }

    /**
     * Returns the order in which axes are resized, so that few elements are computed on the way: those that become
     * shorter first. Elements along inner axes cost more, so that an inner axis is resized while the outer ones are
     * short.
     */
    private static List<Integer> order(int[] axes, double[] scales) {
        List<Integer> order = new ArrayList<>();
        for (int i = 0; i < axes.length; i++) {
            order.add(i);
        }
        order.sort(Comparator.<Integer>comparingDouble(i -> scales[i])
                .thenComparingInt(i -> scales[i] > 1 ? -axes[i] : axes[i]));
        return order;
    }

    private static Operand resampled(Lowering l, Operand x, int axis, Resampling.Axis taps) {
        int count = taps.places().length / taps.taps();
        if (taps.taps() == 2) {
            // Both give the reduction's sum of two to the bit.
            return x.dtype() == DType.FLOAT32
                    ? l.run(new LinearResampling(axis), x, places(l, taps, 0), places(l, taps, 1),
                            weights(l, taps, 0, x.dtype()), weights(l, taps, 1, x.dtype()))
                    : l.binary(Binary.Function.ADD, weighted(l, x, axis, taps, 0), weighted(l, x, axis, taps, 1));
        }
        Operand taken = taken(l, x, axis, taps.places());
        if (taps.taps() == 1) {
            return taken;
        }
        long[] dims = x.shape().dims();
        long[] rows = new long[dims.length + 1];
        System.arraycopy(dims, 0, rows, 0, axis);
        rows[axis] = count;
        rows[axis + 1] = taps.taps();
        System.arraycopy(dims, axis + 1, rows, axis + 2, dims.length - axis - 1);
        long[] alone = new long[rows.length];
        Arrays.fill(alone, 1);
        alone[axis] = count;
        alone[axis + 1] = taps.taps();
        Operand weights = l.constant(Tensor.of(x.dtype(), taps.weights(), alone));
        Operand weighted = l.binary(Binary.Function.MULTIPLY, l.reshape(taken, rows), weights);
        return l.run(new Reduction(Reduction.Function.SUM, List.of(axis + 1), false), weighted);
    }

    /** The elements of one of the taps, each times its weight. */
    private static Operand weighted(Lowering l, Operand x, int axis, Resampling.Axis taps, int tap) {
        long[] alone = new long[x.rank()];
        Arrays.fill(alone, 1);
        alone[axis] = taps.places().length / taps.taps();
        return l.binary(Binary.Function.MULTIPLY, l.run(Gather.of(axis), x, places(l, taps, tap)),
                l.reshape(weights(l, taps, tap, x.dtype()), alone));
    }

    /** The places of one of the taps. */
    private static Operand places(Lowering l, Resampling.Axis taps, int tap) {
        long[] places = new long[taps.places().length / taps.taps()];
        Arrays.setAll(places, i -> taps.places()[i * taps.taps() + tap]);
        return l.constant(Tensor.of(places, places.length));
    }

    /** The weights of one of the taps. */
    private static Operand weights(Lowering l, Resampling.Axis taps, int tap, DType dtype) {
        double[] weights = new double[taps.places().length / taps.taps()];
        Arrays.setAll(weights, i -> taps.weights()[i * taps.taps() + tap]);
        return l.constant(Tensor.of(dtype, weights, weights.length));
    }

    private static Operand taken(Lowering l, Operand x, int axis, long[] places) {
        return l.run(Gather.of(axis), x, l.constant(Tensor.of(places, places.length)));
    }

    private static Operand extrapolated(Lowering l, Operand x, int axis, boolean[] outside) {
        boolean any = false;
        long[] flags = new long[outside.length];
        for (int i = 0; i < flags.length; i++) {
            flags[i] = outside[i] ? 1 : 0;
            any |= outside[i];
        }
        if (!any) {
            return x;
        }
        long[] alone = new long[x.rank()];
        Arrays.fill(alone, 1);
        alone[axis] = outside.length;
        return l.run(new Where(), l.constant(Tensor.of(DType.BOOL, flags, alone)),
                l.number(x.dtype(), l.attrs().getDouble("extrapolation_value")), x);
    }
}
