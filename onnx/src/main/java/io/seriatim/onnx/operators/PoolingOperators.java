package io.seriatim.onnx.operators;

import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.translate.Ref;
import io.seriatim.onnx.node.Node;
import io.seriatim.onnx.node.Registry;
import java.util.Arrays;
import java.util.List;

/** Pooling over windows and over whole images. */
public final class PoolingOperators {
    private PoolingOperators() {
    }

    /** Adds the operators. */
    public static void register(Registry operators) {
        operators.all("MaxPool", node -> pool(node, "max"));
        operators.all("AveragePool",
                node -> pool(node, node.flag("count_include_pad", false) ? "avg_padded" : "avg"));
        operators.all("LpPool", node -> pool(node, "lp"));
        operators.one("GlobalAveragePool", node -> global(node, "reduce_mean"));
        operators.one("GlobalMaxPool", node -> global(node, "reduce_max"));
        operators.one("GlobalLpPool", PoolingOperators::globalNorm);
        operators.one("MaxUnpool", PoolingOperators::unpool);
    }

    private static List<Ref> pool(Node node, String kind) {
        Ref x = node.input(0);
        long[] kernel = node.integers("kernel_shape");
        if (kernel == null || kernel.length != x.rank() - 2 || kernel.length < 1 || kernel.length > 3
                || Arrays.stream(kernel).anyMatch(each -> each < 1 || each != (int) each)) {
            throw node.error("attribute 'kernel_shape' has one positive number for each of one to three spatial axes, "
                    + "but is %s for an operand of rank %d", Numbers.text(kernel), x.rank());
        }
        long[] lengths = ConvolutionOperators.lengths(x);
        Windows window = Windows.of(node, kernel).resolved(lengths);
        boolean ceil = node.flag("ceil_mode", false);
        boolean simple = !kind.equals("lp") && x.dtype().isFloating() && !node.wants(1) && !window.isDilated()
                && !(ceil && mayBeginInPadding(window, lengths))
                && !(window.isSame() && (ceil || kind.equals("avg_padded")));
        for (int i = 0; i < window.rank(); i++) {
            simple &= window.begin()[i] < kernel[i];
        }
        if (simple) {
            return List.of(simple(node, kind, window, ceil));
        }
        var op = node.op("onnx_pool").in("X", x).attr("kind", kind)
                .attr("ksize", Arrays.stream(kernel).mapToInt(each -> (int) each).toArray())
                .attr("strides", window.strides()).attr("dilations", window.dilations())
                .attr("paddings", window.paddings()).attr("padding_algorithm", window.algorithm())
                .attr("ceil_mode", ceil).attr("column_major", node.flag("storage_order", false))
                .attr("p", node.integer("p", 2));
        return node.wants(1) ? op.outs("Out", "Indices") : List.of(op.out("Out"));
    }

    /** Whether there may be a last window that begins in the padding at the end. */
    private static boolean mayBeginInPadding(Windows window, long[] lengths) {
        for (int i = 0; i < window.rank(); i++) {
            int stride = window.strides()[i];
            if (lengths[i] < 0) {
                if (stride > 1 && (window.end()[i] > 0 || stride > window.extent(i))) {
                    return true;
                }
                continue;
            }
            long free = lengths[i] + window.begin()[i] + window.end()[i] - window.extent(i);
            if (Math.ceilDiv(free, stride) * stride >= lengths[i] + window.begin()[i]) {
                return true;
            }
        }
        return false;
    }

    private static Ref simple(Node node, String kind, Windows window, boolean ceil) {
        Steps steps = new Steps(node.block());
        boolean line = window.rank() == 1;
        Windows used = line ? window.overTwo() : window;
        Ref image = line ? steps.unsqueeze(node.input(0), 2) : node.input(0);
        if (kind.equals("avg_padded") && !Arrays.equals(used.begin(), used.end())) {
            // PaddlePaddle's operation counts as much padding behind the elements as there is before them.
            int[] paddings = Arrays.copyOf(new int[4], 4 + 2 * used.rank());
            System.arraycopy(used.paddings(), 0, paddings, 4, 2 * used.rank());
            image = steps.op("pad").in("X", image).attr("paddings", paddings).out("Out");
            int[] none = new int[used.rank()];
            used = new Windows(used.kernel(), used.strides(), used.dilations(), none, none, used.auto());
        }
        Ref result = node.op(used.rank() == 2 ? "pool2d" : "pool3d").in("X", image)
                .attr("pooling_type", kind.equals("max") ? "max" : "avg")
                .attr("ksize", Arrays.stream(used.kernel()).mapToInt(each -> (int) each).toArray())
                .attr("strides", used.strides()).attr("paddings", used.paddings())
                .attr("padding_algorithm", used.algorithm()).attr("ceil_mode", ceil)
                .attr("exclusive", !kind.equals("avg_padded")).out("Out");
        return line ? steps.squeeze(result, 2) : result;
    }

    private static int[] spatial(Node node) {
        int rank = node.input(0).rank();
        if (rank < 3) {
            throw node.error("needs an operand of rank 3 or more, but its rank is %d", rank);
        }
        return Steps.axesFrom(2, rank);
    }

    private static Ref global(Node node, String reduction) {
        Ref x = node.input(0);
        int[] axes = spatial(node);
        if (x.rank() == 4) {
            return node.op("pool2d").in("X", x).attr("pooling_type", reduction.equals("reduce_max") ? "max" : "avg")
                    .attr("ksize", new int[]{1, 1}).attr("adaptive", true).out("Out");
        }
        return new Steps(node.block()).reduce(reduction, x, axes);
    }

    private static Ref globalNorm(Node node) {
        Steps steps = new Steps(node.block());
        // Before version 2 of the operator, p is a floating-point number.
        double p = node.integer("p", 2);
        Ref powers = steps.pow(steps.unary("abs", node.input(0)), p);
        return steps.pow(steps.reduce("reduce_sum", powers, spatial(node)), 1 / p);
    }

    private static Ref unpool(Node node) {
        Ref x = node.input(0);
        long[] kernel = node.integers("kernel_shape");
        if (kernel == null || kernel.length != x.rank() - 2) {
            throw node.error("attribute 'kernel_shape' has one number for each spatial axis, but is %s",
                    Numbers.text(kernel));
        }
        Windows window = Windows.of(node, kernel);
        return node.op("onnx_max_unpool").in("X", x).in("Indices", node.input(1)).maybe("Shape", node.maybe(2))
                .attr("ksize", Arrays.stream(kernel).mapToInt(Math::toIntExact).toArray())
                .attr("strides", window.strides()).attr("paddings", window.paddings()).out("Out");
    }
}
