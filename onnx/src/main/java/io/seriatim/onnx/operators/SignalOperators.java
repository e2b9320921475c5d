package io.seriatim.onnx.operators;

import io.seriatim.graph.translate.BlockBuilder;
import io.seriatim.graph.translate.Ref;
import io.seriatim.onnx.node.Node;
import io.seriatim.onnx.node.Registry;
import io.seriatim.onnx.node.Size;
import io.seriatim.onnx.schema.MelWeights;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.List;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/** Fourier transforms of signals and of their frames, and weights of mel frequencies. */
public final class SignalOperators {
    private static final long MOST = 1L << 26;

    private SignalOperators() {
    }

    /** Adds the operators. */
    public static void register(Registry operators) {
        operators.one("DFT", node -> inPrecise(node, SignalOperators::transform));
        operators.one("STFT", node -> inPrecise(node, SignalOperators::frames));
        operators.one("MelWeightMatrix", SignalOperators::mel);
    }

    /** Transforms are of float32 and float64: 16-bit numbers are computed in float32. */
    private static Ref inPrecise(Node node, BiFunction<Node, Ref, Ref> transform) {
        Ref x = node.input(0);
        Steps steps = new Steps(node.block());
        return steps.cast(transform.apply(node, steps.cast(x, Steps.precise(x.dtype()))), x.dtype());
    }

    private static Ref transform(Node node, Ref x) {
        boolean attribute = node.version() < 20;
        boolean computed = (node.has(1) && node.value(1) == null)
                || (!attribute && node.has(2) && node.value(2) == null);
        if (computed || x.dim(x.rank() - 1) < 0) {
            return inRun(node, x);
        }
        int axis = node.axis(axis(node), x.rank());
        if (axis == x.rank() - 1) {
            throw node.error("the axis %d has the real and the imaginary parts, but signals lie along another", axis);
        }
        boolean inverse = node.flag("inverse", false);
        boolean half = node.flag("onesided", false);
        long length = node.has(1) ? known(node, 1, "dft_length") : -1;
        if (x.dim(axis) < 0 && (length > 0 || half)) {
            return inRun(node, x);
        }
        Steps steps = new Steps(node.block());
        if (inverse && half) {
            Ref numbers = complex(node, steps, length < 0 ? x : resized(node, steps, x, axis, length / 2 + 1));
            Ref real = steps.op("fft_c2r").in("X", numbers).attr("axes", new long[]{axis})
                    .attr("normalization", "backward").attr("forward", false)
                    .attr("last_dim_size", Math.max(length, 0)).out("Out");
            return steps.unsqueeze(real, x.rank() - 1);
        }
        Ref signal = length < 0 ? x : resized(node, steps, x, axis, length);
        return spectrum(node, steps, signal, axis, inverse, half);
    }

    /** A transform of which the axis, the length or the parts of numbers are known in a run. */
    private static Ref inRun(Node node, Ref x) {
        BlockBuilder block = node.block();
        boolean attribute = node.version() < 20;
        return node.op("onnx_dft").in("X", x)
                .maybe("Length", node.has(1) ? block.reshape(block.cast(node.input(1), DType.INT64), 1) : null)
                .maybe("Axis", !attribute && node.has(2)
                        ? block.reshape(block.cast(node.input(2), DType.INT64), 1)
                        : null)
                .attr("axis", attribute ? node.integer("axis", 1) : -2).attr("inverse", node.flag("inverse", false))
                .attr("onesided", node.flag("onesided", false)).out("Out");
    }

    private static long axis(Node node) {
        return node.version() < 20 ? node.integer("axis", 1) : node.has(2) ? one(node, 2, "axis") : -2;
    }

    private static long one(Node node, int index, String what) {
        long[] values = node.knownIntegers(index, what);
        if (values.length != 1) {
            throw node.error("operand %d (%s) is one number, but has %d", index + 1, what, values.length);
        }
        return values[0];
    }

    private static long known(Node node, int index, String what) {
        long value = one(node, index, what);
        if (value < 1 || value > MOST) {
            throw node.error("operand %d (%s) is from 1 to %d, but is %d", index + 1, what, MOST, value);
        }
        return value;
    }

    /** The first elements of an axis, followed by zeros if there are too few. */
    private static Ref resized(Node node, Steps steps, Ref x, int axis, long length) {
        if (x.dim(axis) == length) {
            return x;
        }
        Ref pads = node.block().integers(DType.INT64, 0, length - x.dim(axis));
        return steps.op("onnx_pad").in("X", x).in("Pads", pads).in("Value", steps.scalar(x.dtype(), 0))
                .attr("axes", new int[]{axis}).out("Out");
    }

    private static Ref complex(Node node, Steps steps, Ref x) {
        if (x.dim(x.rank() - 1) != 2) {
            throw node.error("the last axis of complex numbers has length 2, but has %d", x.dim(x.rank() - 1));
        }
        return steps.op("as_complex").in("X", x).out("Out");
    }

    /** The transform of signals, real if their last axis has length 1. */
    private static Ref spectrum(Node node, Steps steps, Ref x, int axis, boolean inverse, boolean half) {
        int last = x.rank() - 1;
        Ref spectrum;
        if (x.dim(last) == 1) {
            spectrum = steps.op("fft_r2c").in("X", steps.squeeze(x, last)).attr("axes", new long[]{axis})
                    .attr("normalization", "backward").attr("forward", !inverse).attr("onesided", half).out("Out");
        } else if (half) {
            throw node.error("half of a spectrum is enough for real signals only, but the last axis has length %d",
                    x.dim(last));
        } else {
            spectrum = steps.op("fft_c2c").in("X", complex(node, steps, x)).attr("axes", new long[]{axis})
                    .attr("normalization", "backward").attr("forward", !inverse).out("Out");
        }
        return steps.op("as_real").in("X", spectrum).out("Out");
    }

    /** Frames of signals, [batch, samples, parts], each multiplied by the window and transformed. */
    private static Ref frames(Node node, Ref x) {
        Ref window = node.maybe(2);
        if (x.rank() != 3) {
            throw node.error("signals have three axes, the last for the parts of numbers, but there are %d", x.rank());
        }
        boolean computed = node.value(1) == null
                || (node.has(3) ? node.value(3) == null : window != null && window.dim(0) < 0);
        if (computed || x.dim(2) < 0) {
            return framesInRun(node, x, window);
        }
        long length = node.has(3) ? known(node, 3, "frame_length") : window == null ? -1 : window.dim(0);
        if (length < 1 || (window != null && window.dim(0) >= 0 && window.dim(0) != length)) {
            throw node.error("needs a frame_length that is known and is the length of the window; it is %d", length);
        }
        Steps steps = new Steps(node.block());
        Ref frames = steps.op("frame").in("X", steps.transpose(x, 0, 2, 1)).attr("frame_length", length)
                .attr("hop_length", known(node, 1, "frame_step")).attr("axis", -1).out("Out");
        Ref ordered = steps.transpose(frames, 0, 3, 2, 1);
        Ref windowed = window == null ? ordered : steps.mul(ordered, steps.unsqueeze(steps.cast(window, x.dtype()), 1));
        return spectrum(node, steps, windowed, 2, false, node.flag("onesided", true));
    }

    /** The same where a run computes the length of frames or the steps between them. */
    private static Ref framesInRun(Node node, Ref x, @Nullable Ref window) {
        Steps steps = new Steps(node.block());
        BlockBuilder block = node.block();
        if (!node.has(3) && window == null) {
            throw node.error("needs a frame_length or a window");
        }
        Ref step = block.reshape(block.cast(node.input(1), DType.INT64), 1);
        Ref length = window != null && !node.has(3)
                ? steps.length(window, 0)
                : block.reshape(block.cast(node.input(3), DType.INT64), 1);
        Ref last = block.binary("elementwise_floordiv", steps.sub(steps.length(x, 1), length), step);
        Ref count = steps.add(last, block.integers(DType.INT64, 1));
        Ref places = steps.add(steps.unsqueeze(steps.mul(range(steps, count), step), 1), range(steps, length));
        Ref taken = node.op("gather").in("X", x).in("Index", block.reshape(places, -1)).attr("axis", 1).out("Out");
        Ref frames = Size.reshape(block, taken, List.of(Size.of(block, x, 0), new Size.Computed(count, null, 0),
                new Size.Computed(length, null, 0), Size.of(block, x, 2)));
        Ref windowed = window == null ? frames : steps.mul(frames, steps.unsqueeze(steps.cast(window, x.dtype()), 1));
        return node.op("onnx_dft").in("X", windowed).attr("axis", 2L).attr("onesided", node.flag("onesided", true))
                .out("Out");
    }

    private static Ref range(Steps steps, Ref length) {
        return steps.op("range").in("Start", steps.scalar(DType.INT64, 0)).in("End", length)
                .in("Step", steps.scalar(DType.INT64, 1)).out("Out");
    }

    /** The matrix is a constant if all numbers are, and made when they change if they are computed or fed. */
    private static Ref mel(Node node) {
        DType dtype = node.dtype("output_datatype", DType.FLOAT32);
        List<Ref> operands = node.inputs(0);
        if (operands.size() != 5) {
            throw node.error("has 5 operands, each one number, but there are %d", operands.size());
        }
        double[] numbers = new double[5];
        for (int i = 0; i < numbers.length; i++) {
            Tensor value = node.value(i);
            if (value == null) {
                return node.op("onnx_mel_weight_matrix").in("Bands", operands.get(0)).in("Length", operands.get(1))
                        .in("Rate", operands.get(2)).in("Low", operands.get(3)).in("High", operands.get(4))
                        .attr("dtype", dtype).out("Out");
            }
            if (value.shape().size() != 1) {
                throw node.error("operand %d is one number, but has the shape %s", i + 1, value.shape());
            }
            numbers[i] = value.toDoubleArray()[0];
        }
        MelWeights weights = new MelWeights((long) numbers[0], (long) numbers[1], (long) numbers[2], numbers[3],
                numbers[4]);
        return new Steps(node.block())
                .constant(Tensor.of(dtype, weights.weights(), weights.rows(), weights.columns()));
    }
}
