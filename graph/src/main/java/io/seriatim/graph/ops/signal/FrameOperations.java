package io.seriatim.graph.ops.signal;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.ComplexNumbers;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Fourier;
import java.util.stream.IntStream;

/** Signals as overlapping frames, the sum of such frames, and Fourier transforms of frames. */
public final class FrameOperations {
    private FrameOperations() {
    }

    public static void register(Operations registry) {
        frame(registry);
        overlapAdd(registry);
        stft(registry);
    }

    private static void frame(Operations registry) {
        Operation.Builder forward = Operation.define("frame").in("X").out("Out")
                .required("frame_length", Attribute.Int.class).required("hop_length", Attribute.Int.class)
                .attr("axis", -1).infer(FrameOperations::frame)
                .lower(l -> l.out("Out", frames(l).inOrder(l, frames(l).of(samplesLast(l, l.in("X"))))));
        String signature = "frame_grad(X, Out@GRAD) -> X@GRAD";
        forward.gradOperation(signature, null).lower(l -> {
            Operand x = samplesLast(l, l.in("X"));
            Operand sum = frames(l).frames().sum(l, samplesOfFramesLast(l, l.in("Out@GRAD")), x.dim(-1));
            l.out("X@GRAD", samplesBack(l, sum));
        }).grad("frame(X=X@GRAD@GRAD) -> Out=Out@GRAD@GRAD").register(registry);
        forward.grad(signature).register(registry);
    }

    /** Frames together with the axis of their operation. */
    private record Placed(Frames frames) {
        Operand of(Operand signal) {
            return frames.of(signal);
        }

        /** [..., frames, samples] as [..., samples, frames], or as [frames, samples, ...]. */
        Operand inOrder(Lowering l, Operand view) {
            return first(l.attrs()) ? front(view) : swapped(view);
        }
    }

    private static boolean first(Attrs attrs) {
        return attrs.getInt("axis") == 0;
    }

    private static Placed frames(Lowering l) {
        return new Placed(new Frames(l.attrs().getInt("frame_length"), l.attrs().getInt("hop_length")));
    }

    private static Operand samplesLast(Lowering l, Operand signal) {
        return first(l.attrs()) ? signal.transpose(turned(signal.rank(), 1)) : signal;
    }

    private static Operand samplesBack(Lowering l, Operand signal) {
        return first(l.attrs()) ? signal.transpose(turned(signal.rank(), signal.rank() - 1)) : signal;
    }

    /** Frames as an operation has them, as [..., frames, samples]. */
    private static Operand samplesOfFramesLast(Lowering l, Operand frames) {
        return first(l.attrs()) ? frames.transpose(turned(frames.rank(), 2)) : swapped(frames);
    }

    private static Operand front(Operand view) {
        return view.transpose(turned(view.rank(), view.rank() - 2));
    }

    private static Operand swapped(Operand view) {
        int[] order = turned(view.rank(), 0);
        order[view.rank() - 2] = view.rank() - 1;
        order[view.rank() - 1] = view.rank() - 2;
        return view.transpose(order);
    }

    /** All axes in order, beginning at one of them. */
    private static int[] turned(int rank, int from) {
        return IntStream.range(0, rank).map(i -> (i + from) % rank).toArray();
    }

    private static void frame(Inference inference) {
        long length = positive(inference, "frame_length");
        long hop = positive(inference, "hop_length");
        long[] dims = inference.dims("X");
        int axis = axis(inference);
        inference.require(dims.length >= 1, "X needs at least one dimension");
        long samples = dims[axis < 0 ? dims.length - 1 : 0];
        inference.require(samples < 0 || samples >= length,
                "frame_length must be at most the %d samples of X, but is %d", samples, length);
        long count = samples < 0 ? -1 : new Frames(length, hop).count(samples);
        long[] out = new long[dims.length + 1];
        System.arraycopy(dims, axis < 0 ? 0 : 1, out, axis < 0 ? 0 : 2, dims.length - 1);
        out[axis < 0 ? dims.length - 1 : 1] = length;
        out[axis < 0 ? dims.length : 0] = count;
        inference.set("Out", inference.dtype("X"), out);
    }

    private static int axis(Inference inference) {
        int axis = inference.attrs().getInt("axis");
        inference.require(axis == 0 || axis == -1, "the axis must be 0 or -1, but is %d", axis);
        return axis;
    }

    private static long positive(Inference inference, String attribute) {
        long value = inference.attrs().getLong(attribute);
        inference.require(value > 0, "%s must be positive, but is %d", attribute, value);
        return value;
    }

    private static void overlapAdd(Operations registry) {
        Operation.Builder forward = Operation.define("overlap_add").in("X").out("Out")
                .required("hop_length", Attribute.Int.class).attr("axis", -1).infer(inference -> {
                    long hop = positive(inference, "hop_length");
                    long[] dims = inference.dims("X");
                    int axis = axis(inference);
                    int rank = dims.length;
                    inference.require(rank >= 2, "X needs at least two dimensions, but has %d", rank);
                    long length = dims[axis < 0 ? rank - 2 : 1];
                    long count = dims[axis < 0 ? rank - 1 : 0];
                    inference.require(length != 0 && count != 0,
                            "X must have frames with samples, but has the shape %s",
                            Numbers.text(dims));
                    inference.require(length < 0 || hop <= length,
                            "hop_length must be at most the %d samples of a frame, but is %d", length, hop);
                    long samples = length < 0 || count < 0 ? -1 : new Frames(length, hop).samples(count);
                    long[] out = new long[rank - 1];
                    System.arraycopy(dims, axis < 0 ? 0 : 2, out, axis < 0 ? 0 : 1, rank - 2);
                    out[axis < 0 ? rank - 2 : 0] = samples;
                    inference.set("Out", inference.dtype("X"), out);
                }).lower(l -> {
                    Operand frames = samplesOfFramesLast(l, l.in("X"));
                    Frames all = new Frames(frames.dim(-1), l.attrs().getInt("hop_length"));
                    l.out("Out", samplesBack(l, all.sum(l, frames, all.samples(frames.dim(-2)))));
                });
        String signature = "overlap_add_grad(X, Out@GRAD) -> X@GRAD";
        forward.gradOperation(signature, null).lower(l -> {
            long length = samplesOfFramesLast(l, l.in("X")).dim(-1);
            Frames all = new Frames(length, l.attrs().getInt("hop_length"));
            l.out("X@GRAD", new Placed(all).inOrder(l, all.of(samplesLast(l, l.in("Out@GRAD")))));
        }).grad("overlap_add(X=X@GRAD@GRAD) -> Out=Out@GRAD@GRAD").register(registry);
        forward.grad(signature).register(registry);
    }

    private static void stft(Operations registry) {
        Operation.Builder forward = Operation.define("stft").in("X", "Window").out("Out")
                .required("n_fft", Attribute.Int.class).required("hop_length", Attribute.Int.class)
                .required("normalized", Attribute.Bool.class).required("onesided", Attribute.Bool.class)
                .infer(FrameOperations::stft).lower(l -> {
                    Operand windowed = windowed(l, ofStft(l).of(l.in("X")));
                    int[] axes = {windowed.rank() - 1};
                    Operand spectrum = l.attrs().getBool("onesided")
                            ? FourierOperations.fromReal(l, windowed, axes, true, scale(l))
                            : FourierOperations.wholeFromReal(l, windowed, axes, true, scale(l));
                    l.out("Out", swapped(spectrum));
                });
        String signature = "stft_grad(X, Window, Out@GRAD) -> X@GRAD";
        forward.gradOperation(signature, null).lower(l -> {
            Operand x = l.in("X");
            Operand dout = swapped(l.in("Out@GRAD"));
            Frames frames = ofStft(l);
            long[] dims = dout.shape().dims();
            dims[dims.length - 1] = frames.length();
            Operand spectrum = FourierOperations.fromRealGradient(l, dout, Shape.of(dims),
                    new int[]{dims.length - 1}, true, scale(l));
            l.out("X@GRAD", frames.sum(l, windowed(l, spectrum), x.dim(-1)));
        }).grad("stft(X=X@GRAD@GRAD, Window=Window) -> Out=Out@GRAD@GRAD").register(registry);
        forward.grad(signature).register(registry);
    }

    private static Frames ofStft(Lowering l) {
        return new Frames(l.attrs().getInt("n_fft"), l.attrs().getInt("hop_length"));
    }

    private static double scale(Lowering l) {
        return l.attrs().getBool("normalized") ? 1 / Math.sqrt(l.attrs().getInt("n_fft")) : 1;
    }

    private static Operand windowed(Lowering l, Operand frames) {
        return l.binary(Binary.Function.MULTIPLY, frames, l.in("Window"));
    }

    private static void stft(Inference inference) {
        long length = positive(inference, "n_fft");
        long hop = positive(inference, "hop_length");
        DType dtype = inference.dtype("X");
        long[] x = inference.dims("X");
        long[] window = inference.dims("Window");
        inference.require((dtype == DType.FLOAT32 || dtype == DType.FLOAT64) && inference.dtype("Window") == dtype,
                "X and Window must be both float32 or both float64, but are %s and %s", dtype,
                inference.dtype("Window"));
        inference.require(x.length == 2 && window.length == 1 && (window[0] < 0 || window[0] == length),
                "X must be [signals, samples] and Window have n_fft = %d numbers, but they are %s and %s", length,
                Numbers.text(x), Numbers.text(window));
        inference.require(x[1] < 0 || x[1] >= length, "n_fft must be at most the %d samples of X, but is %d", x[1],
                length);
        long numbers = inference.attrs().getBool("onesided") ? Fourier.half(length) : length;
        inference.set("Out", ComplexNumbers.of(dtype), x[0], numbers,
                x[1] < 0 ? -1 : new Frames(length, hop).count(x[1]));
    }
}
