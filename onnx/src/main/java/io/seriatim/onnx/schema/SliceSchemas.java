package io.seriatim.onnx.schema;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.tensor.computation.Copy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Slices as in Python: bounds may lie outside, and a slice may be empty. */
final class SliceSchemas {
    private SliceSchemas() {
    }

    static void register(Operations registry) {
        Operation.define("onnx_slice").in("X", "Starts", "Ends", "Axes?", "Steps?").out("Out").attr("axes", new int[0])
                .values("Starts", "Ends", "Axes", "Steps").shapeArithmetic().infer(SliceSchemas::infer)
                .lower(SliceSchemas::lower).grad("onnx_slice_grad(X, Starts, Ends, Axes, Steps, Out@GRAD) -> X@GRAD")
                .register(registry);
        Operation.define("onnx_split").in("X", "Split?").out("Out*").attr("axis", 0).values("Split").shapeArithmetic()
                .infer(SliceSchemas::inferSplit).lower(SliceSchemas::split)
                .grad("concat(X=Out@GRAD) -> Out=X@GRAD").register(registry);
        Operation.define("onnx_squeeze").in("X", "Axes?").out("Out").attr("rank", -1).values("Axes").shapeArithmetic()
                .infer(SliceSchemas::inferSqueezed)
                .lower(l -> l.out("Out", l.reshape(l.in("X"), l.outType("Out", 0).dims())))
                .grad("onnx_squeeze_grad(X, Out@GRAD) -> X@GRAD",
                        l -> l.out("X@GRAD", l.reshape(l.in("Out@GRAD"), l.type("X", 0).dims())))
                .register(registry);
    }

    /** Without lengths, all parts but the last are as long as each other, and the last is no longer. */
    private static void inferSplit(Inference inference) {
        long[] dims = inference.dims("X");
        int axis = inference.axis("X", inference.attrs().getInt("axis"));
        int count = inference.outputs("Out");
        long length = dims[axis];
        long[] parts = inference.values("Split");
        if (!inference.has("Split") && length >= 0) {
            long each = (length + count - 1) / count;
            parts = new long[count];
            Arrays.fill(parts, each);
            parts[count - 1] = length - each * (count - 1);
        }
        inference.require(
                parts == null || (parts.length == count && Arrays.stream(parts).allMatch(part -> part >= 0)
                        && (length < 0 || sum(parts) == length)),
                "axis %d of length %d cannot be divided into %d parts of the lengths %s", axis, length, count,
                Numbers.text(parts));
        for (int i = 0; i < count; i++) {
            dims[axis] = parts == null ? -1 : parts[i];
            inference.set("Out", i, ArgType.dense(inference.dtype("X"), dims));
        }
    }

    /** The sum of numbers from 0 on; the largest number if it is larger. */
    private static long sum(long[] parts) {
        long sum = 0;
        for (long part : parts) {
            sum = part > Long.MAX_VALUE - sum ? Long.MAX_VALUE : sum + part;
        }
        return sum;
    }

    private static void split(Lowering l) {
        Operand whole = l.in("X");
        int axis = whole.shape().axis(l.attrs().getInt("axis"));
        long from = 0;
        for (int i = 0; i < l.outputs("Out"); i++) {
            long length = l.outType("Out", i).dims()[axis];
            l.out("Out", i, whole.slice(axis, from, from + length));
            from += length;
        }
    }

    private static void inferSqueezed(Inference inference) {
        long[] x = inference.dims("X");
        if (!inference.has("Axes")) {
            inferWithoutOnes(inference, x);
            return;
        }
        long[] axes = inference.values("Axes");
        long fewer = Inference.size(inference.dims("Axes"));
        inference.require(fewer >= 0 && fewer <= x.length, "the number of axes must be known, and at most %d",
                x.length);
        if (axes == null) {
            long[] unknown = new long[x.length - (int) fewer];
            Arrays.fill(unknown, -1);
            inference.set("Out", inference.dtype("X"), unknown);
            return;
        }
        List<Long> left = new ArrayList<>();
        boolean[] gone = new boolean[x.length];
        for (long each : axes) {
            int axis = inference.axis("X", each);
            inference.require(x[axis] == 1 || x[axis] < 0, "axis %d is removed, so its length must be 1, but is %d",
                    axis, x[axis]);
            gone[axis] = true;
        }
        for (int i = 0; i < x.length; i++) {
            if (!gone[i]) {
                left.add(x[i]);
            }
        }
        inference.set("Out", inference.dtype("X"), left.stream().mapToLong(Long::longValue).toArray());
    }

    /** Without axes, all dimensions of length 1 are removed. */
    private static void inferWithoutOnes(Inference inference, long[] x) {
        int rank = inference.attrs().getInt("rank");
        long[] left = Arrays.stream(x).filter(dim -> dim != 1).toArray();
        boolean known = Arrays.stream(x).allMatch(dim -> dim >= 0);
        inference.require(known ? left.length == rank : rank >= 0 && rank <= left.length,
                "without axes all dimensions of length 1 are removed, and the result must have %d, but X has %s; name "
                        + "the axes",
                rank, Numbers.text(x));
        long[] unknown = new long[Math.max(rank, 0)];
        Arrays.fill(unknown, -1);
        inference.set("Out", inference.dtype("X"), left.length == rank ? left : unknown);
    }

    /** A part of an axis. */
    private record Part(long from, long step, long count) {
        static Part of(long start, long end, long step, long length) {
            // Sums of what files say must not overflow.
            long begin = Math.max(start, -length - 1);
            long stop = Math.max(end, -length - 1);
            long low = step > 0 ? 0 : -1;
            long high = step > 0 ? length : length - 1;
            long from = Math.clamp(begin < 0 ? begin + length : begin, low, Math.max(low, high));
            long to = Math.clamp(stop < 0 ? stop + length : stop, low, Math.max(low, high));
            long distance = step > 0 ? to - from : from - to;
            long width = step == Long.MIN_VALUE ? Long.MAX_VALUE : Math.abs(step);
            return new Part(from, step, distance <= 0 ? 0 : (distance - 1) / width + 1);
        }
    }

    private static long @Nullable [] steps(Inference inference, int count) {
        long @Nullable [] steps = inference.values("Steps");
        return inference.has("Steps") ? steps : ones(count);
    }

    private static long[] ones(int count) {
        long[] ones = new long[count];
        Arrays.fill(ones, 1);
        return ones;
    }

    private static void infer(Inference inference) {
        ArgType x = inference.in("X");
        long[] dims = x.dims();
        long[] axes = Axes.known(inference);
        if (axes == null) {
            return;
        }
        long @Nullable [] starts = inference.values("Starts");
        long @Nullable [] ends = inference.values("Ends");
        long @Nullable [] steps = steps(inference, axes.length);
        for (int i = 0; i < axes.length; i++) {
            int axis = inference.axis("X", axes[i]);
            if (starts == null || ends == null || steps == null || dims[axis] < 0) {
                dims[axis] = -1;
                continue;
            }
            inference.require(starts.length == axes.length && ends.length == axes.length && steps.length == axes.length,
                    "there are %d axes, but %d starts, %d ends and %d steps", axes.length, starts.length, ends.length,
                    steps.length);
            inference.require(steps[i] != 0, "the step of axis %d must not be 0", axis);
            dims[axis] = Part.of(starts[i], ends[i], steps[i], dims[axis]).count();
        }
        inference.set("Out", x.dtype(), dims);
    }

    private static void lower(Lowering l) {
        long[] named = l.values("Axes");
        long[] axes = named == null ? l.attrs().getLongs("axes") : named;
        long[] starts = Objects.requireNonNull(l.values("Starts"));
        long[] ends = Objects.requireNonNull(l.values("Ends"));
        long[] given = l.values("Steps");
        long[] steps = given == null ? ones(axes.length) : given;
        Operand view = l.in("X");
        for (int i = 0; i < axes.length; i++) {
            int axis = view.shape().axis((int) axes[i]);
            Part part = Part.of(starts[i], ends[i], steps[i], view.dim(axis));
            view = part.count() <= 1
                    ? view.slice(axis, part.count() == 0 ? 0 : part.from(), 1, part.count())
                    : view.slice(axis, part.from(), part.step(), part.count());
        }
        l.into(Copy.PLAIN, List.of(view), List.of(l.output("Out")));
    }
}
