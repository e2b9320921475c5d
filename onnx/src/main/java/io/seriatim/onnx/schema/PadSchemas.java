package io.seriatim.onnx.schema;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Gather;
import io.seriatim.tensor.computation.Pad;
import io.seriatim.tensor.computation.Where;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** Padding in all modes, by numbers that may be negative. */
final class PadSchemas {
    private PadSchemas() {
    }

    static void register(Operations registry) {
        Operation.define("onnx_pad").in("X", "Pads", "Value", "Axes?").out("Out").attr("mode", "constant")
                .attr("constant", Double.NaN).attr("axes", new int[0]).values("Pads", "Axes").infer(PadSchemas::infer)
                .lower(PadSchemas::pad)
                .grad("onnx_pad_grad(X, Pads, Value, Axes, Out@GRAD) -> X@GRAD").register(registry);
    }

    private static void infer(Inference inference) {
        ArgType x = inference.in("X");
        long[] dims = x.dims();
        long[] axes = Axes.known(inference);
        if (axes == null) {
            return;
        }
        long @Nullable [] pads = inference.values("Pads");
        inference.require(pads == null || pads.length == 2 * axes.length,
                "Pads must have two numbers for each of %d axes, but has %d", axes.length,
                pads == null ? 0 : pads.length);
        for (int i = 0; i < axes.length; i++) {
            long before = pads == null ? -1 : pads[i];
            long after = pads == null ? -1 : pads[i + axes.length];
            int axis = inference.axis("X", axes[i]);
            if (pads == null || dims[axis] < 0) {
                dims[axis] = -1;
                continue;
            }
            long length = Math.addExact(dims[axis], Math.addExact(before, after));
            inference.require(length >= 0, "axis %d of length %d cannot be padded by %d and %d", axis, dims[axis],
                    before, after);
            dims[axis] = length;
        }
        inference.set("Out", x.dtype(), dims);
    }

    private static void pad(Lowering l) {
        long[] named = l.values("Axes");
        long[] axes = named == null ? l.attrs().getLongs("axes") : named;
        long[] pads = Objects.requireNonNull(l.values("Pads"));
        String mode = l.attrs().getText("mode");
        Operand x = l.in("X");
        Pad whole = whole(l, x.shape(), axes, pads, mode);
        if (whole != null) {
            l.out("Out", l.run(whole, x));
            return;
        }
        long[] dims = x.shape().dims();
        for (int i = 0; i < axes.length; i++) {
            x = axis(l, x, x.shape().axis((int) axes[i]), pads[i], pads[i + axes.length], mode);
        }
        if (Arrays.equals(dims, x.shape().dims()) && Arrays.stream(pads).allMatch(each -> each == 0)) {
            l.into(Copy.PLAIN, List.of(x), List.of(l.output("Out")));
        } else {
            l.out("Out", x);
        }
    }

    /**
     * The padding of all axes at once; null where elements are removed, or repeated more often than once, or the
     * constant is known only in a run or may not be exact as a double.
     */
    private static @Nullable Pad whole(Lowering l, Shape x, long[] axes, long[] pads, String mode) {
        double constant = l.attrs().getDouble("constant");
        Pad.Mode kind = switch (mode) {
            case "reflect" -> Pad.Mode.REFLECT;
            case "edge" -> Pad.Mode.REPLICATE;
            case "wrap" -> Pad.Mode.CIRCULAR;
            default -> Pad.Mode.CONSTANT;
        };
        if ((kind == Pad.Mode.CONSTANT && Double.isNaN(constant)) || l.in("X").dtype().isComplex()
                || Arrays.stream(pads).allMatch(each -> each == 0)) {
            return null;
        }
        Long[] before = new Long[x.rank()];
        Long[] after = new Long[x.rank()];
        Arrays.fill(before, 0L);
        Arrays.fill(after, 0L);
        for (int i = 0; i < axes.length; i++) {
            int axis = x.axis((int) axes[i]);
            long most = switch (kind) {
                case CONSTANT -> Long.MAX_VALUE;
                case REFLECT -> x.dim(axis) - 1;
                case REPLICATE -> x.dim(axis) == 0 ? 0 : Long.MAX_VALUE;
                case CIRCULAR -> x.dim(axis);
            };
            long least = Math.min(pads[i], pads[i + axes.length]);
            if (least < 0 || Math.max(pads[i], pads[i + axes.length]) > Math.max(0, most)) {
                return null;
            }
            before[axis] = pads[i];
            after[axis] = pads[i + axes.length];
        }
        return new Pad(List.of(before), List.of(after), kind, kind == Pad.Mode.CONSTANT ? constant : 0);
    }

    /** Takes elements along an axis; constants are written over those that are outside. */
    private static Operand axis(Lowering l, Operand x, int axis, long before, long after, String mode) {
        if (before == 0 && after == 0) {
            return x;
        }
        long length = x.dim(axis);
        long result = length + before + after;
        if (before <= 0 && after <= 0) {
            return x.slice(axis, -before, 1, result);
        }
        if (result == 0) {
            return x.slice(axis, 0, 0);
        }
        if (mode.equals("constant") && length == 0) {
            long[] dims = x.shape().dims();
            dims[axis] = result;
            return l.expand(l.in("Value"), Shape.of(dims));
        }
        if (length == 0) {
            throw new IllegalArgumentException("Operation 'onnx_pad': axis " + axis
                    + " is empty, so that nothing can be repeated in mode " + mode);
        }
        long[] places = LongStream.range(0, l.arrayLength("its indexes", result))
                .map(i -> source(mode, i - before, length)).toArray();
        Operand taken = l.run(Gather.of(axis), x, l.constant(Tensor.of(places, places.length)));
        if (!mode.equals("constant")) {
            return taken;
        }
        boolean[] inside = new boolean[places.length];
        for (int i = 0; i < inside.length; i++) {
            inside[i] = i >= before && i < before + length;
        }
        long[] alone = new long[x.rank()];
        Arrays.fill(alone, 1);
        alone[axis] = result;
        long[] ones = new long[inside.length];
        for (int i = 0; i < ones.length; i++) {
            ones[i] = inside[i] ? 1 : 0;
        }
        return l.run(new Where(), l.constant(Tensor.of(DType.BOOL, ones, alone)), taken, l.in("Value"));
    }

    private static long source(String mode, long at, long length) {
        return switch (mode) {
            case "wrap" -> Math.floorMod(at, length);
            case "reflect" -> {
                long period = Math.max(1, 2 * (length - 1));
                long place = Math.floorMod(at, period);
                yield Math.min(place, period - place) % length;
            }
            default -> Math.clamp(at, 0, length - 1);
        };
    }
}
