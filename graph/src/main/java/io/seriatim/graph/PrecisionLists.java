package io.seriatim.graph;

import java.util.Set;

/**
 * Paddle's lists of operations that run faster in 16 bits, that lose accuracy in 16 bits, and that follow their inputs.
 */
final class PrecisionLists {
    /** Operations that run in 16 bits. */
    static final Set<String> LOW = Set.of("conv2d", "depthwise_conv2d", "einsum", "matmul", "matmul_v2", "mul",
            "max_pool2d_with_index",
            "fused_attention", "fused_feedforward", "fused_gemm_epilogue");

    /** Operations that stay in float32. */
    static final Set<String> FULL = words(
            """
                    acos asin atanh bicubic_interp_v2 bilinear_interp_v2 c_softmax_with_cross_entropy cosh cross_entropy
                    cross_entropy2 cumprod
                    cumsum dist erfinv exp expm1 frobenius_norm group_norm hsigmoid_loss huber_loss layer_norm
                    linear_interp_v2 log log10 log2
                    log_loss log_softmax lookup_table lookup_table_v2 margin_cross_entropy mean nearest_interp_v2
                    nll_loss pnorm pow reciprocal
                    reduce_mean reduce_prod reduce_sum renorm rsqrt scatter sigmoid_cross_entropy_with_logits sinh
                    softmax
                    softmax_with_cross_entropy softmin softplus square tan tanh_shrink trilinear_interp_v2
                    triplet_margin_loss""");

    /** Operations that follow their inputs. */
    static final Set<String> FOLLOW = words(
            """
                    batch_norm c_allreduce_sum c_concat c_identity cast concat dropout elementwise_add elementwise_div
                    elementwise_floordiv
                    elementwise_max elementwise_min elementwise_mod elementwise_mul elementwise_pow elementwise_sub
                    fill_constant flatten2
                    fused_multi_transformer gather gaussian_random get_tensor_from_selected_rows leaky_relu pool2d
                    pool3d rank relu relu6 reshape2
                    scale sigmoid sign slice soft_relu split stack tanh top_k transpose2 uniform_random
                    uniform_random_batch_size_like unstack""");

    private PrecisionLists() {
    }

    private static Set<String> words(String text) {
        return Set.of(text.strip().split("\\s+", -1));
    }
}
