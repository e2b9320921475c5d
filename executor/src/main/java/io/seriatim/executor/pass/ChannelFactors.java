package io.seriatim.executor.pass;

import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.PassName;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.TaskGraph;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Chain;
import io.seriatim.tensor.computation.PostOp;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.network.Convolution;
import io.seriatim.tensor.computation.network.Window;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.PreparedKernels;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Multiplies each channel by a factor, as normalisations with given statistics and gates of one image do, by a
 * convolution of one pixel in which every channel is a group of its own. With channels innermost, the library computes
 * it at the speed of memory, with the shift that is added and the activation that follows. A chain in plain Java takes
 * four to seven times as long, and the library's own product up to three times, since it computes the place of each
 * factor anew.
 */
final class ChannelFactors {
    /** This pass, as {@link PassPipeline} runs it; the convolution's activation turns NaN into a number. */
    static final RewritePass PASS = new RewritePass(PassName.CHANNELS_LAST.name(),
            context -> context.isOnForHost(PassName.CHANNELS_LAST) && context.mayLoseNaN(),
            (graph, context) -> rewrite(graph, context.kernels()));

    private static final String LIBRARY = "onednn";
    /** With fewer elements or channels, plain Java takes less time. */
    private static final long FEWEST = 4096;
    private static final long FEWEST_CHANNELS = 8;
    private static final long FEWEST_CHANNELS_OF_PRODUCT = 16;

    private ChannelFactors() {
    }

    /** What a stage computes: x · factor + shift, then an activation. */
    private record Scaled(Arg x, Arg factor, @Nullable Arg shift, List<PostOp> activation) {
    }

    private static void rewrite(TaskGraph graph, PreparedKernels kernels) {
        for (int i = 0; i < graph.size(); i++) {
            if (graph.get(i) instanceof Task.Compute compute) {
                List<Stage> stages = compute.stages().stream().map(stage -> convolved(stage, kernels)).toList();
                if (!stages.equals(compute.stages())) {
                    graph.put(i, new Task.Compute(compute.operations(), stages, compute.temporaries(), compute.place(),
                            compute.reads(), compute.writes()));
                }
            }
        }
    }

    private static Stage convolved(Stage stage, PreparedKernels kernels) {
        Arg out = stage.onlyOutput();
        Scaled scaled = out == null || stage.inputs().contains(null) ? null : scaled(stage);
        if (out == null || scaled == null || !isLarge(out.spec(), scaled) || !isDense(out) || !isDense(scaled.x())
                || !out.spec().shape().equals(scaled.x().spec().shape()) || !isOfChannels(scaled.factor(), out)
                || (scaled.shift() != null && !isOfChannels(scaled.shift(), out))) {
            return stage;
        }
        long channels = channels(out.spec());
        List<@Nullable Arg> inputs = new ArrayList<>();
        inputs.add(pixels(scaled.x()));
        inputs.add(with(scaled.factor(), TensorSpec.of(DType.FLOAT32, channels, 1, 1, 1)));
        if (scaled.shift() != null) {
            inputs.add(with(scaled.shift(), TensorSpec.of(DType.FLOAT32, channels)));
        }
        Computation convolution = new Convolution(Window.of(2, 1, 0), Math.toIntExact(channels),
                scaled.shift() != null, scaled.activation());
        Stage convolved = Stage.of(stage.access(), convolution, inputs, pixels(out));
        return LIBRARY.equals(Providers.of(kernels, convolved)) ? convolved : stage;
    }

    private static boolean isLarge(TensorSpec out, Scaled scaled) {
        boolean single = scaled.shift() == null && scaled.activation().isEmpty();
        return out.dtype() == DType.FLOAT32 && out.shape().rank() >= 2 && out.shape().size() >= FEWEST
                && channels(out) >= (single ? FEWEST_CHANNELS_OF_PRODUCT : FEWEST_CHANNELS)
                && out.shape().size() > channels(out);
    }

    private static long channels(TensorSpec images) {
        return images.shape().dim(images.shape().rank() - 1);
    }

    private static boolean isDense(Arg arg) {
        return arg.spec().isRowMajor() && (arg.source() instanceof Arg.Value || arg.source() instanceof Arg.Temporary);
    }

    /** Whether an operand has one element for each element of the last axis. */
    private static boolean isOfChannels(Arg arg, Arg images) {
        TensorSpec spec = arg.spec();
        return spec.dtype() == DType.FLOAT32 && spec.isRowMajor() && spec.shape().rank() > 0
                && spec.shape().size() == channels(images.spec()) && channels(spec) == spec.shape().size();
    }

    /** The stage as a product per channel and what follows it; null if it is none. */
    private static @Nullable Scaled scaled(Stage stage) {
        List<@Nullable Arg> inputs = stage.inputs();
        if (stage.computation() instanceof Binary(var function, var postOps)) {
            return function == Binary.Function.MULTIPLY && postOps.isEmpty()
                    ? product(Objects.requireNonNull(inputs.get(0)), Objects.requireNonNull(inputs.get(1)))
                    : null;
        }
        if (!(stage.computation() instanceof Chain chain)
                || !(chain.steps().getFirst() instanceof Chain.Combine(var function, var left, var right))
                || function != Binary.Function.MULTIPLY || left == right) {
            return null;
        }
        Scaled scaled = product(Objects.requireNonNull(inputs.get(left)), Objects.requireNonNull(inputs.get(right)));
        int used = 2;
        for (int i = 1; i < chain.steps().size() && scaled != null; i++) {
            int before = chain.inputs() + i - 1;
            scaled = switch (chain.steps().get(i)) {
                case Chain.Combine(var next, var x, var y) when next == Binary.Function.ADD
                        && (x == before) != (y == before)
                        && Math.min(x, y) < chain.inputs() && Math.min(x, y) != left && Math.min(x, y) != right ->
                    shifted(scaled, Objects.requireNonNull(inputs.get(Math.min(x, y))));
                case Chain.Apply(var unary, var x) when x == before -> applied(scaled, unary);
                default -> null;
            };
            used += chain.steps().get(i) instanceof Chain.Combine ? 1 : 0;
        }
        return used == inputs.size() && chain.outputs().equals(List.of(chain.inputs() + chain.steps().size() - 1))
                ? scaled
                : null;
    }

    private static Scaled product(Arg x, Arg y) {
        return x.spec().shape().size() >= y.spec().shape().size()
                ? new Scaled(x, y, null, List.of())
                : new Scaled(y, x, null, List.of());
    }

    private static @Nullable Scaled shifted(Scaled scaled, Arg shift) {
        return scaled.shift() == null && scaled.activation().isEmpty()
                ? new Scaled(scaled.x(), scaled.factor(), shift, List.of())
                : null;
    }

    private static @Nullable Scaled applied(Scaled scaled, Unary unary) {
        return scaled.activation().isEmpty()
                ? new Scaled(scaled.x(), scaled.factor(), scaled.shift(),
                        List.of(new PostOp.Apply(unary.function(), unary.alpha(), unary.beta())))
                : null;
    }

    /** All pixels as one row of an image, whose channels are innermost. */
    private static Arg pixels(Arg images) {
        long channels = channels(images.spec());
        long pixels = images.spec().shape().size() / channels;
        return with(images, new TensorSpec(DType.FLOAT32, Shape.of(1, channels, 1, pixels),
                Layout.strided(pixels * channels, 1, pixels * channels, channels)));
    }

    private static Arg with(Arg arg, TensorSpec spec) {
        return new Arg(arg.source(), arg.offset(), spec);
    }
}
