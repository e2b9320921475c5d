package io.seriatim.graph.program;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/** The versions of operation types that Paddle 2.6.2 writes into every program, in its order. */
final class OpVersions {
    static final Map<String, Integer> OF_VERSION = parse(
            """
                    distribute_fpn_proposals 2 elementwise_add 1 elementwise_sub 1 send_and_recv 1 matrix_nms 1 lstsq 1
                    quantize 2
                    depthwise_conv2d_transpose 1 rank_attention 1 roi_pool 2 mish 1 generate_proposals_v2 1 flip 1
                    collect_fpn_proposals 1
                    fill_constant 2 cumsum 1 instance_norm 1 coalesce_tensor 2 for_pybind_test__ 4 lamb 1 p_norm 1
                    momentum 1 cudnn_lstm 1
                    hard_shrink 1 transfer_layout 1 conv3d_transpose 1 fake_channel_wise_quantize_abs_max 1
                    conv2d_transpose 2 pixel_shuffle 1
                    gather 1 lookup_table 1 depthwise_conv2d 1 greater_equal 1 dequantize 1 generate_proposal_labels 2
                    conv2d 1 yolo_box 1
                    less_equal 1 linspace 1 roll 2 grid_sampler 1 affine_grid 1 allclose 2 conv3d 1 clip 1 roi_align 3
                    auc 1 elementwise_div 1
                    leaky_relu 1 trace 1 softplus 1 print 1 unique_consecutive 1 elementwise_mul 1 set_value 4 seed 1
                    requantize 1 less_than 1
                    data_norm 1 matmul 1 generate_proposals 2 elementwise_pow 1 lookup_table_v2 1 equal 1 greater_than 1
                    not_equal 1
                    moving_average_abs_max_scale 2 fake_channel_wise_dequantize_max_abs 2
                    """);

    private OpVersions() {
    }

    private static Map<String, Integer> parse(String text) {
        String[] words = text.strip().split("\\s+", -1);
        Map<String, Integer> versions = new LinkedHashMap<>();
        for (int i = 0; i < words.length; i += 2) {
            versions.put(words[i], Integer.valueOf(words[i + 1]));
        }
        return Collections.unmodifiableMap(versions);
    }
}
