package io.seriatim.graph.ops.convolution;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.ImageLayout;
import io.seriatim.graph.ops.common.WindowAttributes;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.network.Convolution;
import io.seriatim.tensor.computation.network.ConvolutionGradInput;
import io.seriatim.tensor.computation.network.ConvolutionGradWeights;
import io.seriatim.tensor.computation.network.Window;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Transposed convolutions over two or three spatial dimensions: the gradient of a convolution's input, taken for
 * itself. Depthwise ones differ in name only.
 */
public final class TransposedConvolutionOperations {
    private static final String GRADIENT = "(Bias, Filter, Input, Output@GRAD) -> Filter@GRAD, Input@GRAD";

    private TransposedConvolutionOperations() {
    }

    public static void register(Operations registry) {
        String first = "conv2d_transpose_grad" + GRADIENT;
        Operation.Builder plain = forward("conv2d_transpose", 2, "Input", "Filter", "Bias?");
        plain.gradOperation(first, null).lower(TransposedConvolutionOperations::backward)
                .grad("conv2d_transpose_grad_grad(Filter, Input, grad_filter@GRAD=Filter@GRAD@GRAD, "
                        + "grad_out=Output@GRAD, "
                        + "grad_x@GRAD=Input@GRAD@GRAD) -> Filter@GRAD, Input@GRAD, grad_out@GRAD=Output@GRAD@GRAD",
                        ConvolutionOperations::inferSecond, TransposedConvolutionOperations::second)
                .register(registry);
        plain.grad(first).register(registry);
        forward("depthwise_conv2d_transpose", 2, "Input", "Filter", "Bias?")
                .grad("depthwise_conv2d_transpose_grad" + GRADIENT, TransposedConvolutionOperations::backward)
                .register(registry);
        forward("conv3d_transpose", 3, "Input", "Filter")
                .grad("conv3d_transpose_grad(Filter, Input, Output@GRAD) -> Filter@GRAD, Input@GRAD",
                        TransposedConvolutionOperations::backward)
                .register(registry);
    }

    private static Operation.Builder forward(String type, int spatial, String... slots) {
        Operation.Builder builder = Operation.define(type).in(slots).out("Output");
        return ConvolutionOperations.attributes(builder, spatial).attr("data_format", "NCHW")
                .attr("output_padding", new int[0])
                .attr("output_size", new int[0])
                .infer(TransposedConvolutionOperations::infer).lower(TransposedConvolutionOperations::forward);
    }

    private static void infer(Inference inference) {
        long[] x = inference.dims("Input");
        long[] w = inference.dims("Filter");
        ConvolutionOperations.check(inference, x, w);
        ImageLayout layout = ImageLayout.of(inference.attrs(), "data_format");
        long channels = x[layout.channels(x.length)];
        int groups = inference.attrs().getInt("groups");
        inference.require(channels < 0 || w[0] < 0 || (channels == w[0] && channels % groups == 0),
                "Input's channels (%d) must be dimension 0 of Filter (%d), a multiple of the groups (%d)", channels,
                w[0], groups);
        long outputs = w[1] < 0 ? -1 : w[1] * groups;
        if (inference.has("Bias")) {
            long[] bias = inference.dims("Bias");
            inference.require(bias.length == 1 && (bias[0] < 0 || outputs < 0 || bias[0] == outputs),
                    "Bias must be [%d], but is %s",
                    outputs,
                    Numbers.text(bias));
        }
        long[] lengths = layout.spatialOf(x);
        long[] kernel = Arrays.copyOfRange(w, 2, w.length);
        WindowAttributes window = WindowAttributes.of(inference, lengths, kernel);
        inference.set("Output", inference.dtype("Input"),
                layout.dims(x[0], outputs, lengths(inference, window, lengths, kernel)));
    }

    private static long[] lengths(Inference inference, WindowAttributes window, long[] lengths, long[] kernel) {
        int[] sizes = inference.attrs().getInts("output_size");
        int[] added = inference.attrs().getInts("output_padding");
        int rank = lengths.length;
        inference.require(sizes.length == 0 || sizes.length == rank,
                "the attribute 'output_size' must have %d numbers or none, but is %s",
                rank,
                Numbers.text(sizes));
        inference.require(added.length == 0 || added.length == rank,
                "the attribute 'output_padding' must have %d numbers or none, but is %s", rank,
                Numbers.text(added));
        long[] result = new long[rank];
        for (int i = 0; i < rank; i++) {
            boolean known = lengths[i] >= 0 && kernel[i] >= 0;
            long least = (lengths[i] - 1) * window.stride(i) - window.begin(i) - window.end(i)
                    + window.extent(i, kernel[i]);
            long more = sizes.length > 0 ? sizes[i] - least : added.length > 0 ? added[i] : 0;
            inference.require(!known || (more >= 0 && more < window.stride(i) && least + more > 0),
                    "spatial dimension %d of the result must be from 1 on, and from %d to %d, but output_size or "
                            + "output_padding make it %d",
                    i, least,
                    least + window.stride(i) - 1, least + more);
            result[i] = known ? least + more : sizes.length > 0 ? sizes[i] : -1;
        }
        return result;
    }

    /** The convolution whose input's gradient this is: from the result y to x. */
    @SuppressWarnings("ArrayRecordComponent") // Of this class alone, and never compared.
    private record Parts(Lowering l, ImageLayout layout, Window window, int groups, Operand x, Operand w,
            long[] lengths) {
        static Parts of(Lowering l, Shape result) {
            ImageLayout layout = ImageLayout.of(l.attrs(), "data_format");
            Operand x = layout.channelsFirst(l.in("Input"));
            Operand w = l.in("Filter");
            long[] kernel = ConvolutionOperations.spatial(w.shape());
            WindowAttributes attributes = WindowAttributes.of(l.attrs(), ConvolutionOperations.spatial(x.shape()),
                    kernel);
            return new Parts(l, layout, attributes.window(), l.attrs().getInt("groups"), x, w,
                    layout.spatialOf(result.dims()));
        }

        Operand image(String slot) {
            return layout.channelsFirst(l.in(slot));
        }

        ConvolutionGradInput forward() {
            return new ConvolutionGradInput(window, groups, ConvolutionOperations.list(lengths));
        }

        Convolution gradInput() {
            return new Convolution(window, groups, false, List.of());
        }

        ConvolutionGradWeights gradWeights() {
            return new ConvolutionGradWeights(window, groups, false,
                    ConvolutionOperations.list(ConvolutionOperations.spatial(w.shape())));
        }
    }

    private static void forward(Lowering l) {
        if (!l.wants("Output")) {
            return;
        }
        Parts parts = Parts.of(l, l.output("Output").shape());
        Operand bias = l.optional("Bias");
        if (bias == null) {
            l.into(parts.forward(), List.of(parts.x(), parts.w()),
                    List.of(parts.layout().channelsFirst(l.output("Output"))));
            return;
        }
        Operand perChannel = bias;
        while (perChannel.rank() < parts.x().rank() - 1) {
            perChannel = perChannel.unsqueeze(perChannel.rank());
        }
        Operand sum = l.binary(Binary.Function.ADD, l.run(parts.forward(), parts.x(), parts.w()), perChannel);
        l.out("Output", parts.layout().from(sum));
    }

    private static void backward(Lowering l) {
        Parts parts = Parts.of(l, l.in("Output@GRAD").shape());
        Operand dy = parts.image("Output@GRAD");
        if (l.wants("Input@GRAD")) {
            l.into(parts.gradInput(), List.of(dy, parts.w()),
                    List.of(parts.layout().channelsFirst(l.output("Input@GRAD"))));
        }
        if (l.wants("Filter@GRAD")) {
            l.out("Filter@GRAD", l.run(parts.gradWeights(), dy, parts.x()));
        }
    }

    private static void second(Lowering l) {
        Parts parts = Parts.of(l, l.in("grad_out").shape());
        Operand dy = parts.image("grad_out");
        Operand ddx = l.has("grad_x@GRAD") ? parts.image("grad_x@GRAD") : null;
        Operand ddw = l.optional("grad_filter@GRAD");
        if (ddw == null) {
            ConvolutionOperations.zero(l, "Input@GRAD");
        } else if (l.wants("Input@GRAD")) {
            l.into(parts.gradInput(), List.of(dy, ddw), List.of(parts.layout().channelsFirst(l.output("Input@GRAD"))));
        }
        if (l.wants("Filter@GRAD")) {
            l.out("Filter@GRAD", ddx == null ? l.fill(0, parts.w().spec()) : l.run(parts.gradWeights(), dy, ddx));
        }
        if (l.wants("grad_out@GRAD")) {
            outputGradient(l, parts, ddx, ddw);
        }
    }

    private static void outputGradient(Lowering l, Parts parts, @Nullable Operand ddx, @Nullable Operand ddw) {
        Operand byImage = ddx == null ? null : l.run(parts.forward(), ddx, parts.w());
        Operand byWeights = ddw == null ? null : l.run(parts.forward(), parts.x(), ddw);
        Operand sum = ConvolutionOperations.sum(l, byImage, byWeights);
        l.out("grad_out@GRAD", sum == null ? l.fill(0, l.output("grad_out@GRAD").spec()) : parts.layout().from(sum));
    }
}
