package io.seriatim.mxnet.translate;

import java.util.Arrays;

/** Convolution and its transpose, over one to three dimensions. */
final class ConvolutionTranslators {
    private ConvolutionTranslators() {
    }

    static void register(Translators table) {
        table.one(ConvolutionTranslators::convolution, "Convolution", "Convolution_v1");
        table.one(ConvolutionTranslators::transposed, "Deconvolution");
        table.one(node -> patches(node, "unfold"), "im2col");
        table.one(node -> patches(node, "fold"), "col2im");
    }

    /** The attributes of a window that slides over dimensions. */
    static final class Window {
        private final int[] kernel;
        private final int[] strides;
        private final int[] paddings;
        private final int[] dilations;

        Window(int[] kernel, int[] strides, int[] paddings, int[] dilations) {
            this.kernel = kernel;
            this.strides = strides;
            this.paddings = paddings;
            this.dilations = dilations;
        }

        int[] kernel() {
            return kernel;
        }

        int[] strides() {
            return strides;
        }

        int[] paddings() {
            return paddings;
        }

        int[] dilations() {
            return dilations;
        }

        static Window of(NodeInputs node) {
            AttributeMap attributes = node.attributes();
            int[] kernel = attributes.integers("kernel");
            if (kernel.length < 1 || kernel.length > 3) {
                throw attributes.wrong("kernel", "one to three numbers");
            }
            return new Window(kernel, numbers(attributes, "stride", kernel.length, 1),
                    numbers(attributes, "pad", kernel.length, 0), numbers(attributes, "dilate", kernel.length, 1));
        }

        /** MXNet takes an empty tuple for the default. */
        private static int[] numbers(AttributeMap attributes, String name, int count, int byDefault) {
            int[] numbers = attributes.integers(name);
            if (numbers.length == 0) {
                numbers = new int[count];
                Arrays.fill(numbers, byDefault);
            }
            if (numbers.length != count || Arrays.stream(numbers).anyMatch(each -> each < byDefault)) {
                throw attributes.wrong(name, count + " numbers from " + byDefault + " on, as many as the kernel has");
            }
            return numbers;
        }

        int rank() {
            return kernel.length;
        }

        /** A window over one dimension as one over two. */
        Window widened() {
            return kernel.length > 1
                    ? this
                    : new Window(pair(kernel, 1), pair(strides, 1), pair(paddings, 0), pair(dilations, 1));
        }

        static int[] pair(int[] one, int other) {
            return new int[]{other, one[0]};
        }
    }

    static void requireChannelsFirst(NodeInputs node, int spatial) {
        String layout = node.attributes().text("layout", "");
        if (!layout.isEmpty() && !layout.equals("NCDHW".substring(0, 2) + "DHW".substring(3 - spatial))) {
            throw node.attributes().wrong("layout", "NCW, NCHW or NCDHW: images have their channels first");
        }
    }

    private static String convolution(NodeInputs node) {
        Window window = Window.of(node);
        requireChannelsFirst(node, window.rank());
        boolean flat = window.rank() == 1;
        Ops ops = node.ops();
        Window wide = window.widened();
        String y = ops.op(window.rank() == 3 ? "conv3d" : "conv2d")
                .in("Input", flat ? ops.unsqueeze(node.in(0), 2) : node.in(0))
                .in("Filter", flat ? ops.unsqueeze(node.in(1), 2) : node.in(1)).attr("strides", wide.strides())
                .attr("paddings", wide.paddings()).attr("dilations", wide.dilations())
                .attr("groups", node.attributes().integer("num_group", 1)).one("Output");
        return withBias(node, flat ? ops.squeeze(y, 2) : y, 2, false);
    }

    static String withBias(NodeInputs node, String y, int bias, boolean noneByDefault) {
        return node.attributes().flag("no_bias", noneByDefault)
                ? y
                : node.op("elementwise_add").in("X", y).in("Y", node.in(bias)).attr("axis", 1).one("Out");
    }

    /** The elements under each place of a window, or images of their sums. */
    private static String patches(NodeInputs node, String type) {
        Window window = Window.of(node);
        if (window.rank() != 2) {
            throw node.attributes().wrong("kernel", "two numbers");
        }
        int[] pad = window.paddings();
        OpWriter op = node.op(type).in("X", node.in(0)).attr("kernel_sizes", window.kernel())
                .attr("strides", window.strides()).attr("dilations", window.dilations())
                .attr("paddings", new int[]{pad[0], pad[1], pad[0], pad[1]});
        return (type.equals("fold") ? op.attr("output_sizes", node.attributes().integers("output_size")) : op)
                .one("Y");
    }

    private static String transposed(NodeInputs node) {
        Window window = Window.of(node);
        requireChannelsFirst(node, window.rank());
        AttributeMap attributes = node.attributes();
        int[] adjusted = Window.numbers(attributes, "adj", window.rank(), 0);
        int[] target = attributes.integers("target_shape");
        int[] paddings = window.paddings();
        if (target.length > 0 && Arrays.stream(target).anyMatch(each -> each != 0)) {
            Fitted fitted = Fitted.of(node, window, target);
            paddings = fitted.paddings;
            adjusted = fitted.adjusted;
        }
        boolean flat = window.rank() == 1;
        Ops ops = node.ops();
        Window wide = new Window(window.kernel(), window.strides(), paddings, window.dilations()).widened();
        String y = ops.op(window.rank() == 3 ? "conv3d_transpose" : "conv2d_transpose")
                .in("Input", flat ? ops.unsqueeze(node.in(0), 2) : node.in(0))
                .in("Filter", flat ? ops.unsqueeze(node.in(1), 2) : node.in(1)).attr("strides", wide.strides())
                .attr("paddings", wide.paddings()).attr("dilations", wide.dilations())
                .attr("output_padding", flat ? Window.pair(adjusted, 0) : adjusted)
                .attr("groups", attributes.integer("num_group", 1)).one("Output");
        return withBias(node, flat ? ops.squeeze(y, 2) : y, 2, true);
    }

    /** The padding that gives the result of a transposed convolution a wanted size. */
    private static final class Fitted {
        final int[] paddings;
        final int[] adjusted;

        private Fitted(int[] paddings, int[] adjusted) {
            this.paddings = paddings;
            this.adjusted = adjusted;
        }

        static Fitted of(NodeInputs node, Window window, int[] target) {
            long[] dims = node.dims(node.in(0));
            int rank = window.rank();
            if (target.length != rank || dims.length != rank + 2) {
                throw node.attributes().wrong("target_shape", rank + " numbers, as many as the kernel has");
            }
            int[] paddings = new int[rank];
            int[] adjusted = new int[rank];
            for (int i = 0; i < rank; i++) {
                if (dims[i + 2] < 0) {
                    throw node.attributes().wrong("target_shape",
                            "left out where the size of the input is not known before the run; give adj and pad");
                }
                long surplus = window.strides()[i] * (dims[i + 2] - 1)
                        + (long) window.dilations()[i] * (window.kernel()[i] - 1) + 1 - target[i];
                if (surplus < 0) {
                    throw node.attributes().wrong("target_shape", "at most the size without padding");
                }
                adjusted[i] = (int) (surplus % 2);
                paddings[i] = (int) ((surplus + 1) / 2);
            }
            return new Fitted(paddings, adjusted);
        }
    }
}
