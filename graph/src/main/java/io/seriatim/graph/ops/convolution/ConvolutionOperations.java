package io.seriatim.graph.ops.convolution;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.ImageLayout;
import io.seriatim.graph.ops.common.QuantizedScales;
import io.seriatim.graph.ops.common.WindowAttributes;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.network.Convolution;
import io.seriatim.tensor.computation.network.ConvolutionGradInput;
import io.seriatim.tensor.computation.network.ConvolutionGradWeights;
import io.seriatim.tensor.computation.network.Window;
import io.seriatim.tensor.kernel.Computation;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Convolutions over two or three spatial dimensions; depthwise ones differ in name only. */
public final class ConvolutionOperations {
    private ConvolutionOperations() {
    }

    public static void register(Operations registry) {
        define(registry, "conv2d", 2);
        define(registry, "depthwise_conv2d", 2);
        define(registry, "conv3d", 3);
        quantized(registry, "conv2d");
        quantized(registry, "depthwise_conv2d");
        integers(registry);
    }

    /** A convolution of 8-bit levels whose result are the sums, in int32. */
    private static void integers(Operations registry) {
        attributes(Operation.define("integer_conv2d").in("Input", "Filter").out("Output"), 2)
                .attr("data_format", "NCHW").infer(inference -> {
                    for (String slot : List.of("Input", "Filter")) {
                        DType dtype = inference.dtype(slot);
                        inference.require(dtype == DType.INT8 || (dtype == DType.UINT8 && slot.equals("Input")),
                                "Input must be int8 or uint8 and Filter int8, but %s is %s", slot, dtype);
                    }
                    inferImage(inference, DType.INT32);
                }).lower(ConvolutionOperations::forward).register(registry);
    }

    /** A convolution of int8 levels; {@link QuantizedScales} says how its result is scaled. */
    private static void quantized(Operations registry, String type) {
        Operation.Builder builder = QuantizedScales.define(type, "Input", "Filter", "Output");
        attributes(builder, 2).attr("data_format", "NCHW").infer(inference -> {
            inferImage(inference, inference.dtype("Input"));
            QuantizedScales.infer(inference, "Input", "Filter", "Output");
        }).lower(l -> {
            Parts parts = Parts.of(l);
            Window window = parts.window();
            long[] dims = parts.x().shape().dims();
            dims[1] = parts.w().dim(0);
            for (int i = 0; i < window.rank(); i++) {
                dims[2 + i] = window.places(i, dims[2 + i], parts.w().dim(2 + i));
            }
            Operand scales = QuantizedScales.of(l, "Input", "Filter");
            Operand result = l.temporary(TensorSpec.of(DType.FLOAT32, dims));
            l.into(new Convolution(window, parts.groups(), false, QuantizedScales.SCALED),
                    List.of(parts.x(), l.cast(parts.w(), DType.INT8), scales.reshape(1, scales.shape().size(), 1, 1)),
                    List.of(result));
            l.out("Output", parts.layout().from(result));
        }).register(registry);
    }

    private static void define(Operations registry, String type, int spatial) {
        Operation.Builder forward = Operation.define(type).in("Input", "Filter").out("Output");
        attributes(forward, spatial).attr("data_format", spatial == 2 ? "NCHW" : "NCDHW")
                .infer(ConvolutionOperations::infer)
                .lower(ConvolutionOperations::forward);
        String first = type + "_grad(Filter, Input, Output@GRAD) -> Filter@GRAD, Input@GRAD";
        String second = type
                + "_grad_grad(Filter, Input, grad_filter@GRAD=Filter@GRAD@GRAD, grad_input@GRAD=Input@GRAD@GRAD, "
                + "grad_out=Output@GRAD) -> Filter@GRAD, Input@GRAD, grad_out@GRAD=Output@GRAD@GRAD";
        Operation.Builder gradient = forward.gradOperation(first, null).lower(ConvolutionOperations::backward);
        gradient.grad(second, ConvolutionOperations::inferSecond, ConvolutionOperations::second).register(registry);
        forward.grad(first).register(registry);
    }

    /** All but data_format, whose default differs. */
    static Operation.Builder attributes(Operation.Builder builder, int spatial) {
        int[] ones = new int[spatial];
        Arrays.fill(ones, 1);
        return builder.attr("strides", ones).attr("paddings", new int[spatial]).attr("padding_algorithm", "EXPLICIT")
                .attr("dilations", ones.clone()).attr("groups", 1);
    }

    /** The requirements of Paddle's convolutions, transposed or not, on their inputs. */
    static void check(Inference inference, long[] x, long[] w) {
        checkSizes(inference, x, w);
        checkTypes(inference);
    }

    private static void checkTypes(Inference inference) {
        inference.require(inference.dtype("Input") == inference.dtype("Filter"),
                "Input and Filter must have one type, but have %s and %s",
                inference.dtype("Input"), inference.dtype("Filter"));
    }

    private static void checkSizes(Inference inference, long[] x, long[] w) {
        inference.require(x.length >= 3 && w.length == x.length,
                "Input and Filter need the same number of dimensions, from 3 on, but have %d and %d",
                x.length, w.length);
        inference.require(inference.attrs().getInt("groups") >= 1,
                "the attribute 'groups' must be 1 or more, but is %d",
                inference.attrs().getInt("groups"));
    }

    private static void infer(Inference inference) {
        checkTypes(inference);
        inferImage(inference, inference.dtype("Input"));
    }

    private static void inferImage(Inference inference, DType result) {
        long[] x = inference.dims("Input");
        long[] w = inference.dims("Filter");
        checkSizes(inference, x, w);
        ImageLayout layout = ImageLayout.of(inference.attrs(), "data_format");
        int groups = inference.attrs().getInt("groups");
        long channels = x[layout.channels(x.length)];
        inference.require(channels < 0 || w[1] < 0 || channels == w[1] * groups,
                "Input's channels (%d) must be the groups (%d) times dimension 1 of Filter (%d)", channels, groups,
                w[1]);
        inference.require(w[0] < 0 || (w[0] > 0 && w[0] % groups == 0),
                "dimension 0 of Filter (%d) must be a multiple of the groups (%d)",
                w[0],
                groups);
        long[] spatial = layout.spatialOf(x);
        long[] kernel = Arrays.copyOfRange(w, 2, w.length);
        WindowAttributes window = WindowAttributes.of(inference, spatial, kernel);
        long[] places = new long[spatial.length];
        for (int i = 0; i < places.length; i++) {
            places[i] = window.places(i, spatial[i], kernel[i]);
            inference.require(places[i] != 0,
                    "a kernel of %d does not fit into the spatial dimension %d with its padding and dilation",
                    kernel[i],
                    spatial[i]);
        }
        inference.set("Output", result, layout.dims(x[0], w[0], places));
    }

    /**
     * The convolution that the attributes of an operation and its gradients describe; images have their channels first.
     */
    private record Parts(Lowering l, ImageLayout layout, Window window, int groups, Operand x, Operand w) {
        static Parts of(Lowering l) {
            ImageLayout layout = ImageLayout.of(l.attrs(), "data_format");
            Operand x = layout.channelsFirst(l.in("Input"));
            Operand w = l.in("Filter");
            Window window = WindowAttributes.of(l.attrs(), spatial(x.shape()), spatial(w.shape())).window();
            return new Parts(l, layout, window, l.attrs().getInt("groups"), x, w);
        }

        Operand image(String slot) {
            return layout.channelsFirst(l.in(slot));
        }

        @Nullable
        Operand optionalImage(String slot) {
            return l.has(slot) ? image(slot) : null;
        }

        Convolution convolution() {
            return new Convolution(window, groups, false, List.of());
        }

        ConvolutionGradInput gradInput() {
            return new ConvolutionGradInput(window, groups, list(spatial(x.shape())));
        }

        ConvolutionGradWeights gradWeights() {
            return new ConvolutionGradWeights(window, groups, false, list(spatial(w.shape())));
        }

        void intoImage(Computation computation, Operand a, Operand b, String slot) {
            if (l.wants(slot)) {
                l.into(computation, List.of(a, b), List.of(layout.channelsFirst(l.output(slot))));
            }
        }
    }

    public static long[] spatial(Shape shape) {
        return shape.slice(2, shape.rank()).dims();
    }

    public static List<Long> list(long[] dims) {
        return Arrays.stream(dims).boxed().toList();
    }

    private static void forward(Lowering l) {
        Parts parts = Parts.of(l);
        parts.intoImage(parts.convolution(), parts.x(), parts.w(), "Output");
    }

    private static void backward(Lowering l) {
        Parts parts = Parts.of(l);
        Operand dy = parts.image("Output@GRAD");
        parts.intoImage(parts.gradInput(), dy, parts.w(), "Input@GRAD");
        if (l.wants("Filter@GRAD")) {
            l.out("Filter@GRAD", l.run(parts.gradWeights(), parts.x(), dy));
        }
    }

    static void inferSecond(Inference inference) {
        inference.same("Input", "Input@GRAD");
        inference.same("Filter", "Filter@GRAD");
        inference.same("grad_out", "grad_out@GRAD");
    }

    /**
     * A convolution is linear in the image and in the weights, so its gradients' gradients are convolutions and their
     * gradients.
     */
    private static void second(Lowering l) {
        Parts parts = Parts.of(l);
        Operand dy = parts.image("grad_out");
        Operand ddx = parts.optionalImage("grad_input@GRAD");
        Operand ddw = l.optional("grad_filter@GRAD");
        if (ddw == null) {
            zero(l, "Input@GRAD");
        } else {
            parts.intoImage(parts.gradInput(), dy, ddw, "Input@GRAD");
        }
        if (l.wants("Filter@GRAD")) {
            l.out("Filter@GRAD", ddx == null ? l.fill(0, parts.w().spec()) : l.run(parts.gradWeights(), ddx, dy));
        }
        if (!l.wants("grad_out@GRAD")) {
            return;
        }
        Operand byImage = ddx == null ? null : l.run(parts.convolution(), ddx, parts.w());
        Operand byWeights = ddw == null ? null : l.run(parts.convolution(), parts.x(), ddw);
        Operand sum = sum(l, byImage, byWeights);
        l.out("grad_out@GRAD", sum == null ? l.fill(0, l.output("grad_out@GRAD").spec()) : parts.layout().from(sum));
    }

    static void zero(Lowering l, String slot) {
        if (l.wants(slot)) {
            l.out(slot, l.fill(0, l.output(slot).spec()));
        }
    }

    public static @Nullable Operand sum(Lowering l, @Nullable Operand a, @Nullable Operand b) {
        if (a == null || b == null) {
            return a == null ? b : a;
        }
        return l.binary(Binary.Function.ADD, a, b);
    }
}
