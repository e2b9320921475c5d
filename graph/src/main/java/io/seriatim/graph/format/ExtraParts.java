package io.seriatim.graph.format;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The attributes and outputs that Paddle 2.6.2 calls extra: they are about training, or about how some library
 * computes, and are not exported.
 */
final class ExtraParts {
    private static final Map<String, List<String>> ATTRIBUTES = parse(
            """
                    Scale_in Scale_in_eltwise Scale_out Scale_weights exhaustive_search force_fp32_output
                    fuse_activation fuse_alpha fuse_beta
                    fuse_relu fuse_relu_before_depthwise_conv fuse_residual_connection is_test mkldnn_data_type
                    use_addto use_cudnn use_mkldnn
                    use_quantizer workspace_size_MB: depthwise_conv2d;
                    Scale_in Scale_in_eltwise Scale_out Scale_weights force_fp32_output fuse_activation fuse_beta
                    fuse_relu
                    fuse_relu_before_depthwise_conv fuse_residual_connection is_test mkldnn_data_type use_addto
                    use_cudnn use_mkldnn
                    use_quantizer: fused_conv2d_add_act;
                    Scale_in Scale_in_eltwise Scale_out Scale_weights fuse_alpha fuse_beta use_cudnn: fused_conv2d;
                    Scale_out Scale_x Scale_y mkldnn_data_type use_mkldnn use_quantizer: elementwise_add elementwise_div
                    elementwise_floordiv
                    elementwise_fmax elementwise_fmin elementwise_heaviside elementwise_max elementwise_mod
                    elementwise_mul elementwise_pow
                    elementwise_sub grad_add;
                    Scale_out Scale_x Scale_y mkldnn_data_type use_mkldnn use_quantizer x_data_format y_data_format:
                    elementwise_min;
                    beta use_mkldnn: swish;
                    custom_neg_classes epmap height_sections table_names trainer_id: nce;
                    data_format: fused_transpose sequence_softmax;
                    data_format is_test mkldnn_data_type use_cudnn use_mkldnn: softmax;
                    data_format mkldnn_data_type use_mkldnn: transpose2;
                    deterministic force_cpu rng_name: seed;
                    epmap height_sections is_distributed is_sparse remote_prefetch slot table_names trainer_id:
                    lookup_table_v2;
                    exhaustive_search force_fp32_output fuse_activation fuse_alpha fuse_beta fuse_relu
                    fuse_residual_connection is_test
                    mkldnn_data_type use_addto use_cudnn use_mkldnn workspace_size_MB: conv3d;
                    exhaustive_search force_fp32_output is_test use_addto use_cudnn use_mkldnn workspace_size_MB:
                    conv2d;
                    fix_seed seed: dropout dropout_nd;
                    force_fp32_output fuse_activation fuse_alpha fuse_beta fuse_relu is_test mkldnn_data_type use_cudnn
                    use_mkldnn
                    workspace_size_MB: conv2d_transpose depthwise_conv2d_transpose;
                    force_fp32_output scale_out scale_x scale_y use_mkldnn: mul;
                    fuse_with_relu use_mkldnn: batch_norm;
                    is_test: gru;
                    is_test mkldnn_data_type use_mkldnn: layer_norm prelu;
                    is_test mkldnn_data_type use_mkldnn use_quantizer: pool2d;
                    is_test use_mkldnn: lrn;
                    mkldnn_data_type use_mkldnn: clip expand_v2 gelu matmul_v2 shape slice squeeze2;
                    mkldnn_data_type use_mkldnn use_quantizer: concat prior_box reshape2;
                    moving_rate: dequantize_linear quantize_linear;
                    round_type: fake_channel_wise_quantize_abs_max fake_channel_wise_quantize_dequantize_abs_max
                    fake_quantize_abs_max
                    fake_quantize_dequantize_abs_max fake_quantize_dequantize_moving_average_abs_max
                    fake_quantize_moving_average_abs_max
                    fake_quantize_range_abs_max;
                    seed: randperm;
                    skip_eager_deletion_vars: conditional_block pylayer while;
                    slots: distributed_push_sparse;
                    threshold use_mkldnn: relu6;
                    use_cudnn: affine_grid grid_sampler;
                    use_cudnn use_mkldnn: acosh asinh atanh ceil cos cosh exp expm1 floor log log10 log1p log2
                    logsigmoid reciprocal relu renorm
                    round rsqrt sigmoid silu sin sinh softplus softsign sqrt square tan tanh tanh_shrink;
                    use_cudnn use_mkldnn workspace_size_MB: conv3d_transpose;
                    use_mkldnn: abs addmm angle bicubic_interp_v2 bilinear_interp_v2 data_norm elu fill_constant
                    frobenius_norm gaussian_random
                    hard_swish leaky_relu linear_interp_v2 log_softmax mish nearest_interp_v2 pad2d pad3d partial_sum
                    pool3d reduce_all
                    reduce_amax reduce_amin reduce_any reduce_max reduce_mean reduce_min reduce_prod reduce_sum scale
                    sgd shuffle_channel stack
                    trilinear_interp_v2;
                    """);
    private static final Map<String, List<String>> OUTPUTS = parse("""
            BatchCellPreAct BatchGate: lstm;
            BatchGate BatchHidden BatchResetHiddenPrev: gru;
            InnerCache XShape: einsum;
            Mask: dropout dropout_nd;
            MedianIndex: nanmedian;
            Noise: rrelu;
            Norm: norm;
            OutAccum OutScale OutState: dequantize_linear quantize_linear;
            ReserveSpace: batch_norm;
            SampleLabels SampleLogits: nce;
            SavedMean SavedVariance: instance_norm;
            XShape: flatten2 flatten_contiguous_range fused_transpose squeeze2 transpose2 unsqueeze2;
            """);

    private ExtraParts() {
    }

    private static Map<String, List<String>> parse(String text) {
        Map<String, List<String>> names = new HashMap<>();
        for (String group : text.strip().split(";\\s*", 0)) {
            int colon = group.indexOf(':');
            List<String> parts = List.of(group.substring(0, colon).split("\\s+", 0));
            Arrays.stream(group.substring(colon + 1).strip().split("\\s+", 0)).forEach(type -> names.put(type, parts));
        }
        return Map.copyOf(names);
    }

    static List<String> attributes(String type) {
        return ATTRIBUTES.getOrDefault(type, List.of());
    }

    static List<String> outputs(String type) {
        return OUTPUTS.getOrDefault(type, List.of());
    }
}
