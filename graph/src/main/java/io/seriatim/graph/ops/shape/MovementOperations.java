package io.seriatim.graph.ops.shape;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.Dims;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Fill;
import io.seriatim.tensor.computation.Triangle;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Operations that move elements. */
public final class MovementOperations {
    private MovementOperations() {
    }

    public static void register(Operations registry) {
        flip(registry);
        roll(registry);
        pixelShuffle(registry);
        triangle(registry);
        temporalShift(registry);
    }

    private static void flip(Operations registry) {
        // The same under two names.
        for (String type : List.of("flip", "reverse")) {
            Operation.define(type).in("X").out("Out").required("axis", Attribute.Ints.class)
                    .infer(MovementOperations::flipped).lower(MovementOperations::flip)
                    .grad(type + "(X=Out@GRAD) -> Out=X@GRAD").register(registry);
        }
    }

    private static void flipped(Inference inference) {
        int[] axes = Dims.axes(inference, "X", inference.attrs().getLongs("axis"));
        inference.require(Arrays.stream(axes).distinct().count() == axes.length,
                "axis %s must name each dimension at most once",
                Numbers.text(axes));
        inference.same("X", "Out");
    }

    private static void flip(Lowering l) {
        Operand view = l.in("X");
        for (int axis : l.attrs().getInts("axis")) {
            view = view.rank() == 0 ? view : view.flip(axis);
        }
        l.out("Out", view);
    }

    private static void roll(Operations registry) {
        String signature = "roll_grad(Out@GRAD, ShiftsTensor, X) -> X@GRAD";
        Operation.Builder roll = Operation.define("roll").in("X", "ShiftsTensor?").out("Out")
                .attr("shifts", new long[0])
                .attr("axis", new long[0]).values("ShiftsTensor").infer(MovementOperations::rolled)
                .lower(l -> roll(l, "X", "Out", 1))
                .grad(signature);
        roll.gradOperation(signature, null).values("ShiftsTensor").shapesOnly("X")
                .lower(l -> roll(l, "Out@GRAD", "X@GRAD", -1))
                .register(registry);
        roll.register(registry);
    }

    private static void rolled(Inference inference) {
        int[] axes = Dims.axes(inference, "X", inference.attrs().getLongs("axis"));
        long @Nullable [] shifts = inference.has("ShiftsTensor")
                ? inference.values("ShiftsTensor")
                : inference.attrs().getLongs("shifts");
        inference.require(shifts == null || shifts.length == Math.max(1, axes.length),
                "there must be a shift for each axis, %d, but there are %d", Math.max(1, axes.length),
                shifts == null ? 0 : shifts.length);
        inference.same("X", "Out");
    }

    private static void roll(Lowering l, String in, String out, int sign) {
        if (!l.wants(out)) {
            return;
        }
        Operand from = l.in(in);
        Operand to = l.output(out);
        int[] axes = l.attrs().getInts("axis");
        if (axes.length == 0) {
            from = from.reshape(from.shape().size());
            to = to.reshape(to.shape().size());
        }
        long[] given = l.values("ShiftsTensor");
        long[] shifts = given == null ? l.attrs().getLongs("shifts") : given;
        long[] total = new long[from.rank()];
        for (int i = 0; i < shifts.length && from.rank() > 0; i++) {
            int axis = axes.length == 0 ? 0 : from.shape().axis(axes[i]);
            long length = Math.max(1, from.dim(axis));
            total[axis] = Math.floorMod(total[axis] + sign * (shifts[i] % length), length);
        }
        roll(l, from, to, total, 0);
    }

    /** Each axis is cut in two parts, which are exchanged. */
    private static void roll(Lowering l, Operand from, Operand to, long[] shifts, int axis) {
        if (axis == shifts.length) {
            l.into(Copy.PLAIN, List.of(from), List.of(to));
        } else if (shifts[axis] == 0) {
            roll(l, from, to, shifts, axis + 1);
        } else {
            long length = from.dim(axis);
            long shift = shifts[axis];
            roll(l, from.slice(axis, 0, length - shift), to.slice(axis, shift, length), shifts, axis + 1);
            roll(l, from.slice(axis, length - shift, length), to.slice(axis, 0, shift), shifts, axis + 1);
        }
    }

    private static void pixelShuffle(Operations registry) {
        String signature = "pixel_shuffle_grad(Out@GRAD) -> X@GRAD";
        Operation.Builder shuffle = Operation.define("pixel_shuffle").in("X").out("Out").attr("upscale_factor", 1)
                .attr("data_format", "NCHW").infer(MovementOperations::shuffled).lower(MovementOperations::shuffle)
                .grad(signature);
        shuffle.gradOperation(signature, MovementOperations::unshuffled).lower(MovementOperations::unshuffle)
                .register(registry);
        shuffle.register(registry);
    }

    private static boolean channelsLast(Attrs attrs) {
        return attrs.getText("data_format").equals("NHWC");
    }

    private static long factor(Inference inference, String slot) {
        String format = inference.attrs().getText("data_format");
        long factor = inference.attrs().getLong("upscale_factor");
        inference.require(Set.of("NCHW", "NHWC").contains(format), "data_format must be NCHW or NHWC, but is %s",
                format);
        inference.require(factor > 0 && factor <= 1 << 15, "upscale_factor must be from 1 to 32768, but is %d", factor);
        inference.require(inference.dims(slot).length == 4, "%s must have four dimensions, but has %d", slot,
                inference.dims(slot).length);
        return factor;
    }

    private static void shuffled(Inference inference) {
        long factor = factor(inference, "X");
        long[] dims = inference.dims("X");
        int channel = channelsLast(inference.attrs()) ? 3 : 1;
        int height = channel == 3 ? 1 : 2;
        inference.require(dims[channel] < 0 || dims[channel] % (factor * factor) == 0,
                "the %d channels must be a multiple of %d, the square of upscale_factor", dims[channel],
                factor * factor);
        dims[channel] = dims[channel] < 0 ? -1 : dims[channel] / (factor * factor);
        dims[height] = Dims.times(dims[height], factor);
        dims[height + 1] = Dims.times(dims[height + 1], factor);
        inference.set("Out", inference.dtype("X"), dims);
    }

    private static void unshuffled(Inference inference) {
        long factor = factor(inference, "Out@GRAD");
        long[] dims = inference.dims("Out@GRAD");
        int channel = channelsLast(inference.attrs()) ? 3 : 1;
        int height = channel == 3 ? 1 : 2;
        dims[channel] = Dims.times(dims[channel], factor * factor);
        for (int i = height; i < height + 2; i++) {
            inference.require(dims[i] < 0 || dims[i] % factor == 0, "dimension %d must be a multiple of %d, but is %d",
                    i, factor, dims[i]);
            dims[i] = dims[i] < 0 ? -1 : dims[i] / factor;
        }
        inference.set("X@GRAD", inference.dtype("Out@GRAD"), dims);
    }

    private static void shuffle(Lowering l) {
        if (l.wants("Out")) {
            long factor = l.attrs().getLong("upscale_factor");
            Operand out = l.output("Out");
            long[] x = l.in("X").shape().dims();
            Operand from = l.in("X").reshape(split(l.attrs(), x, factor));
            Operand to = out.reshape(fine(l.attrs(), out.shape().dims(), factor));
            l.into(Copy.PLAIN, List.of(from.transpose(0, 1, 4, 2, 5, 3)), List.of(to));
        }
    }

    private static void unshuffle(Lowering l) {
        if (l.wants("X@GRAD")) {
            long factor = l.attrs().getLong("upscale_factor");
            Operand out = l.in("Out@GRAD");
            Operand x = l.output("X@GRAD");
            Operand from = out.reshape(fine(l.attrs(), out.shape().dims(), factor));
            l.into(Copy.PLAIN, List.of(from.transpose(0, 1, 3, 5, 2, 4)),
                    List.of(x.reshape(split(l.attrs(), x.shape().dims(), factor))));
        }
    }

    /** The coarse image with the channels taken apart: [n, c, r, r, h, w] or [n, h, w, c, r, r]. */
    private static long[] split(Attrs attrs, long[] x, long factor) {
        return channelsLast(attrs)
                ? new long[]{x[0], x[1], x[2], x[3] / (factor * factor), factor, factor}
                : new long[]{x[0], x[1] / (factor * factor), factor, factor, x[2], x[3]};
    }

    /** The fine image with its rows and columns taken apart: [n, c, h, r, w, r] or [n, h, r, w, r, c]. */
    private static long[] fine(Attrs attrs, long[] out, long factor) {
        return channelsLast(attrs)
                ? new long[]{out[0], out[1] / factor, factor, out[2] / factor, factor, out[3]}
                : new long[]{out[0], out[1], out[2] / factor, factor, out[3] / factor, factor};
    }

    private static void triangle(Operations registry) {
        Operation.define("tril_triu").in("X").out("Out").attr("diagonal", 0).attr("lower", false).infer(inference -> {
            int rank = inference.dims("X").length;
            inference.require(rank >= 2, "X needs at least two dimensions, but has %d", rank);
            inference.same("X", "Out");
        }).lower(l -> l.out("Out", l.run(triangle(l.attrs()), l.in("X")))).grad("tril_triu_grad(Out@GRAD) -> X@GRAD",
                l -> l.out("X@GRAD", l.run(triangle(l.attrs()), l.in("Out@GRAD")))).register(registry);
    }

    private static Triangle triangle(Attrs attrs) {
        return new Triangle(!attrs.getBool("lower"), attrs.getLong("diagonal"));
    }

    /**
     * Images are in groups of seg_num consecutive frames: a part of the channels moves to the next frame, as many to
     * the previous one, and the rest stay.
     */
    private static void temporalShift(Operations registry) {
        Operation.define("temporal_shift").in("X").out("Out").required("seg_num", Attribute.Int.class)
                .attr("shift_ratio", 0.25f)
                .attr("data_format", "NCHW").infer(inference -> shifted(inference, "X", "Out"))
                .lower(l -> temporalShift(l, "X", "Out", 1))
                .grad("temporal_shift_grad(Out@GRAD) -> X@GRAD", inference -> shifted(inference, "Out@GRAD", "X@GRAD"),
                        l -> temporalShift(l, "Out@GRAD", "X@GRAD", -1))
                .register(registry);
    }

    private static void shifted(Inference inference, String from, String to) {
        long[] dims = inference.dims(from);
        int segments = inference.attrs().getInt("seg_num");
        float ratio = inference.attrs().getFloat("shift_ratio");
        inference.require(dims.length == 4, "%s must have four dimensions, but has %d", from, dims.length);
        inference.require(segments > 0 && (dims[0] < 0 || dims[0] % segments == 0),
                "the %d images must be a multiple of seg_num, %d",
                dims[0], segments);
        inference.require(ratio > 0 && ratio < 0.5, "shift_ratio must be between 0 and 0.5, but is %s", ratio);
        String format = inference.attrs().getText("data_format");
        inference.require(format.equals("NCHW") || format.equals("NHWC"),
                "data_format must be NCHW or NHWC, but is '%s'", format);
        inference.same(from, to);
    }

    private static void temporalShift(Lowering l, String from, String to, int step) {
        if (!l.wants(to)) {
            return;
        }
        int channel = l.attrs().getText("data_format").equals("NHWC") ? 4 : 2;
        Operand x = grouped(l, l.in(from));
        Operand y = grouped(l, l.output(to));
        float ratio = l.attrs().getFloat("shift_ratio");
        long first = (long) (x.dim(channel) * ratio);
        long second = (long) (x.dim(channel) * 2 * ratio);
        shift(l, x.slice(channel, 0, first), y.slice(channel, 0, first), step);
        shift(l, x.slice(channel, first, second), y.slice(channel, first, second), -step);
        l.into(Copy.PLAIN, List.of(x.slice(channel, second, x.dim(channel))),
                List.of(y.slice(channel, second, x.dim(channel))));
    }

    private static Operand grouped(Lowering l, Operand images) {
        long segments = l.attrs().getInt("seg_num");
        return images.reshape(images.dim(0) / segments, segments, images.dim(1), images.dim(2), images.dim(3));
    }

    private static void shift(Lowering l, Operand from, Operand to, int step) {
        long length = from.dim(1);
        long start = step > 0 ? 0 : 1;
        l.into(Copy.PLAIN, List.of(from.slice(1, start, start + length - 1)),
                List.of(to.slice(1, 1 - start, length - start)));
        l.into(new Fill(0), List.of(), List.of(to.slice(1, step > 0 ? 0 : length - 1, step > 0 ? 1 : length)));
    }
}
