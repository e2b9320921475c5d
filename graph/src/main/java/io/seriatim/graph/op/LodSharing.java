package io.seriatim.graph.op;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Which outputs take over the level-of-detail offsets of which inputs, unless an operation says so itself. As in
 * Paddle, most operations pass those of their first input to their first output; a result with another number of rows
 * has none all the same, since offsets that do not fit are not read.
 */
final class LodSharing {
    /** Operations whose results have no offsets in Paddle. */
    private static final Set<String> NONE = Set.of(
            "abs", "allclose", "angle", "arg_max", "arg_min", "bicubic_interp_v2", "bilinear_interp_v2",
            "channel_shuffle", "cholesky", "conv2d", "conv2d_transpose", "conv3d", "conv3d_transpose",
            "depthwise_conv2d", "depthwise_conv2d_transpose", "diag_embed", "diag_v2", "diagonal", "dist", "dot",
            "eigh", "eigvalsh", "expand_as_v2", "fill_constant_batch_size_like", "fill_diagonal",
            "fill_diagonal_tensor", "flatten2", "fold", "frobenius_norm", "isclose", "isfinite_v2", "isinf_v2",
            "isnan_v2", "kldiv_loss", "linear_interp_v2", "logsumexp", "masked_select", "matmul_v2",
            "max_pool2d_with_index", "max_pool3d_with_index", "maxout", "mean", "meshgrid", "multinomial",
            "multiplex", "nearest_interp_v2", "nll_loss", "norm", "p_norm", "pad", "pixel_shuffle",
            "pixel_unshuffle", "reduce_all", "reduce_amax", "reduce_amin", "reduce_any", "reduce_max",
            "reduce_mean", "reduce_min", "reduce_prod", "reduce_sum", "rnn", "searchsorted", "sequence_mask",
            "share_data", "slice", "squared_l2_norm", "take_along_axis", "tensor_array_to_tensor", "trace",
            "transpose2", "trilinear_interp_v2", "unfold", "uniform_random_batch_size_like", "unique",
            "unique_consecutive", "unstack", "where_index");

    /** Operations of which other slots than the first share offsets, or more of them: inputs by outputs. */
    private static final Map<String, Map<String, String>> OTHERS = Map.ofEntries(
            Map.entry("argsort", Map.of("Out", "X", "Indices", "X")),
            Map.entry("cummax", Map.of("out", "x", "indices", "x")),
            Map.entry("cummin", Map.of("out", "x", "indices", "x")),
            Map.entry("huber_loss", Map.of("Out", "X")), Map.entry("index_sample", Map.of("Out", "Index")),
            Map.entry("kthvalue", Map.of("Out", "X", "Indices", "X")),
            Map.entry("lookup_table", Map.of("Out", "Ids")), Map.entry("lookup_table_v2", Map.of("Out", "Ids")),
            Map.entry("mode", Map.of("Out", "X", "Indices", "X")),
            Map.entry("softmax_with_cross_entropy", Map.of("Softmax", "Logits", "Loss", "Logits")),
            Map.entry("top_k", Map.of("Out", "X", "Indices", "X")),
            Map.entry("top_k_v2", Map.of("Out", "X", "Indices", "X")),
            Map.entry("triangular_solve", Map.of("Out", "Y")), Map.entry("where", Map.of("Out", "X")));

    private LodSharing() {
    }

    static Map<String, String> of(Operation schema) {
        boolean shares = (schema.isLowered() || schema.type().equals("assign")) && !NONE.contains(schema.type());
        if (!shares || schema.inputs().isEmpty() || schema.outputs().isEmpty()) {
            return Map.of();
        }
        Map<String, String> others = OTHERS.get(schema.type());
        if (others != null) {
            return others;
        }
        String first = schema.inputs().getFirst().name();
        String output = schema.outputs().getFirst().name();
        return output.endsWith(GradientRule.SUFFIX) ? ofGradient(schema) : Map.of(output, first);
    }

    /** A gradient has the offsets of its variable, or else those of the gradient that comes in. */
    private static Map<String, String> ofGradient(Operation schema) {
        List<String> inputs = schema.inputs().stream().map(Slot::name).toList();
        Map<String, String> shares = new LinkedHashMap<>();
        for (Slot output : schema.outputs()) {
            String name = output.name();
            String forward = name.endsWith(GradientRule.SUFFIX)
                    ? name.substring(0, name.length() - GradientRule.SUFFIX.length())
                    : name;
            if (inputs.contains(forward)) {
                shares.put(name, forward);
            } else {
                inputs.stream().filter(each -> each.endsWith(GradientRule.SUFFIX)).findFirst()
                        .ifPresent(each -> shares.put(name, each));
            }
        }
        return Map.copyOf(shares);
    }
}
