package io.seriatim.onnx.operators;

import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.translate.BlockBuilder;
import io.seriatim.graph.translate.OpAppender;
import io.seriatim.graph.translate.Ref;
import io.seriatim.onnx.node.Node;
import io.seriatim.onnx.node.Registry;
import io.seriatim.onnx.node.Size;
import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Convolutions, also transposed and deformable ones. */
public final class ConvolutionOperators {
    private ConvolutionOperators() {
    }

    /** Adds the operators. */
    public static void register(Registry operators) {
        operators.one("Conv", node -> convolution(node, node.input(0), node.input(1), node.maybe(2)));
        operators.one("ConvTranspose", ConvolutionOperators::transposed);
        operators.one("DeformConv", ConvolutionOperators::deformable);
    }

    /** A convolution of floating-point numbers with the attributes of a node. */
    static Ref convolution(Node node, Ref x, Ref w, @Nullable Ref bias) {
        Steps steps = new Steps(node.block());
        int spatial = spatial(node, x, w);
        if (x.dim(1) >= 0 && w.dim(1) >= 0 && x.dim(1) != w.dim(1) * node.integer("group", 1)) {
            throw node.error("the channels of the operand (%d) are those of the weights (%d) times the groups (%d)",
                    x.dim(1), w.dim(1), node.integer("group", 1));
        }
        Windows window = window(node, w).resolved(lengths(x));
        Ref image = x;
        Ref kernel = w;
        if (spatial == 1) {
            image = steps.unsqueeze(x, 2);
            kernel = steps.unsqueeze(w, 2);
            window = window.overTwo();
        }
        boolean depthwise = spatial <= 2 && w.dim(1) == 1 && node.integer("group", 1) > 1;
        OpAppender op = node.op(spatial == 3 ? "conv3d" : depthwise ? "depthwise_conv2d" : "conv2d");
        Ref result = window(op, window).in("Input", image).in("Filter", kernel)
                .attr("groups", node.int32("group", 1)).out("Output");
        return finished(node, result, bias, spatial);
    }

    private static OpAppender window(OpAppender op, Windows window) {
        return op.attr("strides", window.strides()).attr("paddings", window.paddings())
                .attr("padding_algorithm", window.algorithm()).attr("dilations", window.dilations());
    }

    private static Ref finished(Node node, Ref result, @Nullable Ref bias, int spatial) {
        Ref sum = bias == null
                ? result
                : node.op("elementwise_add").in("X", result).in("Y", bias).attr("axis", 1).out("Out");
        return spatial == 1 ? node.block().squeeze(sum, 2) : sum;
    }

    static int spatial(Node node, Ref x, Ref w) {
        int spatial = x.rank() - 2;
        if (spatial < 1 || spatial > 3 || w.rank() != x.rank()) {
            throw node.error("needs operands of one rank from 3 to 5, but they have the shapes %s and %s",
                    Numbers.text(x.dims()), Numbers.text(w.dims()));
        }
        return spatial;
    }

    static long[] lengths(Ref x) {
        return Arrays.copyOfRange(x.dims(), 2, x.rank());
    }

    private static Windows window(Node node, Ref w) {
        long[] kernel = lengths(w);
        long[] declared = node.integers("kernel_shape");
        if (declared != null) {
            for (int i = 0; i < kernel.length; i++) {
                if (declared.length != kernel.length || (kernel[i] >= 0 && kernel[i] != declared[i])) {
                    throw node.error("attribute 'kernel_shape' is %s, but the weights have the shape %s",
                            Numbers.text(declared), Numbers.text(w.dims()));
                }
            }
            kernel = declared;
        }
        return Windows.of(node, kernel);
    }

    private static Ref transposed(Node node) {
        Ref x = node.input(0);
        Ref w = node.input(1);
        int spatial = spatial(node, x, w);
        Windows window = window(node, w);
        int[] added = Windows.numbers(node, "output_padding", spatial, 0, 0);
        long[] lengths = lengths(x);
        int[] begin = window.begin().clone();
        int[] end = window.end().clone();
        long[] shape = node.integers("output_shape");
        long[] wanted = shape == null ? new long[0] : shape;
        if (wanted.length == spatial + 2) {
            wanted = Arrays.copyOfRange(wanted, 2, wanted.length);
        }
        for (int i = 0; i < spatial; i++) {
            int step = window.strides()[i];
            long sum;
            boolean given = wanted.length > 0;
            if (given && wanted.length != spatial) {
                throw node.error("attribute 'output_shape' has a length for each of %d spatial axes, but is %s",
                        spatial, Numbers.text(wanted));
            }
            if ((given && lengths[i] < 0) || ((given || window.isSame()) && window.kernel()[i] < 0)) {
                return cut(node, x, w, window, added, wanted);
            }
            if (given) {
                sum = step * (lengths[i] - 1) + added[i] + window.extent(i) - wanted[i];
            } else if (window.isSame()) {
                sum = added[i] + window.extent(i) - step;
            } else {
                continue;
            }
            if (sum < 0) {
                // The result is longer than what the elements reach: the rest is not reached by any.
                added[i] += Math.toIntExact(-sum);
                sum = 0;
            }
            begin[i] = Math.toIntExact(node.text("auto_pad", "").equals("SAME_UPPER") ? sum / 2 : sum - sum / 2);
            end[i] = Math.toIntExact(sum - begin[i]);
        }
        return transposed(node, x, w, new Windows(window.kernel(), window.strides(), window.dilations(), begin, end,
                "NOTSET"), added);
    }

    /**
     * A transposed convolution without padding, of which a part is taken whose place a run computes from its lengths.
     *
     * @param wanted
     *            the lengths of the result; empty if they are those of the operand times the steps
     */
    private static Ref cut(Node node, Ref x, Ref w, Windows window, int[] added, long[] wanted) {
        Steps steps = new Steps(node.block());
        BlockBuilder block = node.block();
        int spatial = window.rank();
        int[] none = new int[spatial];
        Ref whole = transposed(node, x, w,
                new Windows(window.kernel(), window.strides(), window.dilations(), none, none, "NOTSET"), none, null);
        boolean upper = node.text("auto_pad", "").equals("SAME_UPPER");
        Ref zero = block.integers(DType.INT64, 0);
        List<Ref> before = new ArrayList<>();
        List<Ref> after = new ArrayList<>();
        for (int i = 0; i < spatial; i++) {
            Size want = wanted.length > 0
                    ? new Size.Known(wanted[i])
                    : Size.of(block, x, 2 + i).times(block, window.strides()[i]);
            Ref more = steps.sub(want.tensor(block), Size.of(block, whole, 2 + i).tensor(block));
            Ref sum = steps.sub(block.integers(DType.INT64, added[i]), more);
            Ref half = block.binary("elementwise_floordiv", sum, block.integers(DType.INT64, 2));
            Ref begin = block.binary("elementwise_max", upper ? half : steps.sub(sum, half), zero);
            before.add(steps.sub(zero, begin));
            after.add(steps.add(more, begin));
        }
        before.addAll(after);
        Ref part = steps.op("onnx_pad").in("X", whole).in("Pads", block.concat(0, before))
                .in("Value", steps.scalar(x.dtype(), 0)).attr("axes", Steps.axesFrom(2, x.rank())).out("Out");
        Ref bias = node.maybe(2);
        return bias == null ? part : steps.add(part, steps.perChannel(bias, x.rank()));
    }

    private static Ref transposed(Node node, Ref x, Ref w, Windows window, int[] added) {
        return transposed(node, x, w, window, added, node.maybe(2));
    }

    private static Ref transposed(Node node, Ref x, Ref w, Windows window, int[] added, @Nullable Ref bias) {
        Steps steps = new Steps(node.block());
        int spatial = window.rank();
        Ref image = x;
        Ref kernel = w;
        Windows used = window;
        int[] more = added;
        if (spatial == 1) {
            image = steps.unsqueeze(x, 2);
            kernel = steps.unsqueeze(w, 2);
            used = window.overTwo();
            more = new int[]{0, added[0]};
        }
        boolean direct = true;
        for (int i = 0; i < more.length; i++) {
            direct &= more[i] < used.strides()[i];
        }
        int[] none = new int[used.rank()];
        Windows whole = new Windows(used.kernel(), used.strides(), used.dilations(), none, none, "NOTSET");
        OpAppender op = node.op(spatial == 3 ? "conv3d_transpose" : "conv2d_transpose");
        Ref result = window(op, direct ? used : whole).in("Input", image).in("Filter", kernel)
                .attr("groups", node.int32("group", 1)).attr("output_padding", direct ? more : none).out("Output");
        for (int i = 0; !direct && i < more.length; i++) {
            // What is cut off at the end and what is added there cancel each other.
            int back = used.end()[i] - more[i];
            if (used.begin()[i] > 0 || back > 0) {
                result = steps.slice(result, 2 + i, used.begin()[i], back > 0 ? -back : Integer.MAX_VALUE);
            }
            if (back < 0) {
                int[] paddings = new int[2 * result.rank()];
                paddings[2 * (2 + i) + 1] = -back;
                result = steps.op("pad").in("X", result).attr("paddings", paddings).out("Out");
            }
        }
        return finished(node, result, bias, spatial);
    }

    private static Ref deformable(Node node) {
        Ref x = node.input(0);
        Ref w = node.input(1);
        if (spatial(node, x, w) != 2) {
            throw node.error("needs images of two spatial dimensions, but the operand's shape is %s",
                    Numbers.text(x.dims()));
        }
        Windows window = window(node, w);
        int[] begin = window.begin();
        if (!Arrays.equals(begin, window.end())) {
            // Outside of the image is zero everywhere.
            x = node.op("pad").in("X", x)
                    .attr("paddings", new int[]{0, 0, 0, 0, begin[0], window.end()[0], begin[1], window.end()[1]})
                    .out("Out");
            begin = new int[2];
        }
        Ref mask = node.maybe(4);
        OpAppender op = node.op(mask == null ? "deformable_conv_v1" : "deformable_conv").in("Input", x)
                .in("Offset", node.input(2)).in("Filter", w).maybe("Mask", mask);
        Ref result = op.attr("strides", window.strides()).attr("paddings", begin)
                .attr("dilations", window.dilations()).attr("groups", node.int32("group", 1))
                .attr("deformable_groups", node.int32("offset_group", 1)).out("Output");
        return finished(node, result, node.maybe(3), 2);
    }
}
