package io.seriatim.onnx.read;

import io.seriatim.graph.translate.BlockBuilder;
import io.seriatim.graph.translate.Ref;
import io.seriatim.onnx.node.Node;
import io.seriatim.onnx.proto.OnnxAttribute;
import io.seriatim.onnx.proto.OnnxNode;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * A normalisation that {@link Compositions} finds in nodes: (x − mean) / √(variance + ε) · scale + bias, with means
 * over some axes. It is over the last axis, with scale and bias for each of its elements; or scale and bias are for
 * each channel, at axis 1, and the means are over the channels of each pixel, over each image, or over each channel of
 * an image. Networks of sound call the last three cumulative, global and instance normalisation. The node that stands
 * for it is of a domain that no file has.
 */
final class WrittenNormalisation {
    private static final String DOMAIN = "io.seriatim.compositions";
    private static final int CHANNELS = 1;

    private WrittenNormalisation() {
    }

    static OnnxNode node(OnnxNode last, List<String> operands, List<Long> axes, float epsilon) {
        return new OnnxNode(last.name(), DOMAIN, "Normalization", operands, last.outputs(), Map.of("axes",
                new OnnxAttribute.Ints(axes), "epsilon", new OnnxAttribute.Real(epsilon)));
    }

    static boolean is(OnnxNode node) {
        return node.domain().equals(DOMAIN);
    }

    /** Returns whether scale and bias have types and shapes for which there is an operation. */
    static boolean fits(Ref x, List<Ref> parameters, List<Long> axes) {
        if (parameters.stream().anyMatch(each -> each.dtype() != x.dtype())) {
            return false;
        }
        return isOfLast(x, parameters, axes)
                || (x.rank() > 2 && x.dim(CHANNELS) > 0 && parameters.stream().allMatch(each -> isPerChannel(each, x))
                        && (isOver(axes, x, CHANNELS, CHANNELS + 1) || isOver(axes, x, CHANNELS, x.rank())
                                || isOver(axes, x, CHANNELS + 1, x.rank())));
    }

    private static boolean isOfLast(Ref x, List<Ref> parameters, List<Long> axes) {
        return x.rank() > 1 && isOver(axes, x, x.rank() - 1, x.rank()) && parameters.stream()
                .allMatch(each -> each.rank() == 1 && each.dim(0) > 0 && each.dim(0) == x.dim(-1));
    }

    private static boolean isOver(List<Long> axes, Ref x, int from, int to) {
        return Arrays.equals(LongStream.range(from, to).toArray(),
                axes.stream().mapToLong(axis -> axis < 0 ? axis + x.rank() : axis).sorted().toArray());
    }

    private static boolean isPerChannel(Ref parameter, Ref x) {
        int missing = x.rank() - parameter.rank();
        return missing >= 0 && missing <= CHANNELS && IntStream.range(0, parameter.rank())
                .allMatch(i -> parameter.dim(i) == (i + missing == CHANNELS ? x.dim(CHANNELS) : 1));
    }

    static List<Ref> translate(Node node) {
        BlockBuilder block = node.block();
        Ref x = node.input(0);
        Ref scale = node.input(1);
        Ref bias = node.input(2);
        List<Long> axes = Arrays.stream(Objects.requireNonNull(node.integers("axes"))).boxed().toList();
        int rank = x.rank();
        if (isOfLast(x, List.of(scale, bias), axes)) {
            return List.of(ofRows(node, x, scale, bias));
        }
        scale = block.reshape(scale, -1);
        bias = block.reshape(bias, -1);
        if (isOver(axes, x, CHANNELS, CHANNELS + 1)) {
            int[] inner = IntStream.range(0, rank).map(i -> i == 0 ? 0 : i == rank - 1 ? CHANNELS : i + 1).toArray();
            int[] back = IntStream.range(0, rank).map(i -> i == 0 ? 0 : i == CHANNELS ? rank - 1 : i - 1).toArray();
            return List.of(block.transpose(ofRows(node, block.transpose(x, inner), scale, bias), back));
        }
        long groups = isOver(axes, x, CHANNELS, rank) ? 1 : x.dim(CHANNELS);
        return List.of(node.op("group_norm").in("X", x).in("Scale", scale).in("Bias", bias)
                .attr("groups", Math.toIntExact(groups)).attr("epsilon", node.real("epsilon", 0))
                .outs("Y", "Mean", "Variance").getFirst());
    }

    private static Ref ofRows(Node node, Ref x, Ref scale, Ref bias) {
        return node.op("layer_norm").in("X", x).in("Scale", scale).in("Bias", bias)
                .attr("epsilon", node.real("epsilon", 0)).attr("begin_norm_axis", x.rank() - 1)
                .outs("Y", "Mean", "Variance").getFirst();
    }
}
