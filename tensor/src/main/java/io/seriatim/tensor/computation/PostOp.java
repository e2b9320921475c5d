package io.seriatim.tensor.computation;

import io.seriatim.tensor.check.Operands;
import java.util.List;

/**
 * An epilogue: a function of each element of a result that is applied before the element is written, which saves a
 * pass over memory. The epilogues of a {@link MatMul} or a convolution are best written so:
 *
 * <ul>
 * <li>A bias of a convolution as its bias, [channels]; or as {@code Combine(ADD)} of [channels, 1, 1], [1, channels, 1,
 * 1] or a view that is expanded from these by strides of 0.
 * <li>A bias of a product, one value a column, as its bias or as a first {@code Combine(ADD)}, which are the same;
 * expanded views too.
 * <li>A residual as {@code Combine(ADD)} of a dense tensor of the result's shape: after the bias, before the function.
 * <li>A sum into what the output holds, such as the gradient of weights that are used several times, as
 * {@link Accumulate} with 1. The gradients of a convolution have none, but that of the weights is added to a sum by a
 * computation of its own, {@code ConvolutionAddWeights}.
 * <li>An activation as {@link Apply} last.
 * </ul>
 *
 * <p>
 * All of these are computed in one pass, and in float32 give to the bit what the steps give one by one. Operands of
 * other shapes ([n, channels, 1, 1], [1, channels, h, w], [n, 1, 1, k] ...) are accepted, but some of them the library
 * computes as kernels that follow, which saves nothing; operands with gaps are copied first. In 16 bits the result is
 * rounded once, after all post-ops; where they follow, each time.
 */
public sealed interface PostOp {
    /**
     * Applies a function. The library does not propagate NaN for some functions: see {@link #keepsNaN}.
     *
     * @param function
     *            the function
     * @param alpha
     *            its first parameter
     * @param beta
     *            its second parameter
     */
    record Apply(Unary.Function function, float alpha, float beta) implements PostOp {
        /**
         * Whether every kernel gives NaN for NaN. Where not, the function is to be computed on its own if a NaN must
         * not get lost, for instance because someone looks for it.
         *
         * @return false for the functions of which the library passes over NaN in a post-op
         */
        public boolean keepsNaN() {
            return switch (function) {
                case RELU, CLIP, HARD_SIGMOID, EXP -> false;
                default -> !function.isTest();
            };
        }
    }

    /**
     * Combines with one more input, which broadcasts to the result. The inputs of post-ops follow those of the
     * computation, in order.
     *
     * @param function
     *            the result is its left operand
     */
    record Combine(Binary.Function function) implements PostOp {
    }

    /**
     * Adds the previous elements of the output, scaled.
     *
     * @param scale
     *            the factor
     */
    record Accumulate(float scale) implements PostOp {
    }

    /**
     * Whether the last of some post-ops multiplies with an input, or adds one, as the quantization of a result does.
     *
     * @param postOps
     *            the post-ops, in order
     * @return false if there are none
     */
    static boolean endInLevels(List<PostOp> postOps) {
        return !postOps.isEmpty() && postOps.getLast() instanceof Combine(var function)
                && (function == Binary.Function.MULTIPLY || function == Binary.Function.ADD);
    }
}
