package io.seriatim.tensor.kernel;

/** What is done to each element of a result before it is written: saves a pass over memory. */
public sealed interface PostOp {
    /**
     * Applies a function.
     *
     * @param function
     *            which
     * @param alpha
     *            its first parameter
     * @param beta
     *            its second parameter
     */
    record Apply(Unary.Function function, float alpha, float beta) implements PostOp {
    }

    /**
     * Combines with one more input, which broadcasts to the result. The inputs of post-ops follow those of the computation, in order.
     *
     * @param function
     *            the result is its left operand
     */
    record Combine(Binary.Function function) implements PostOp {
    }

    /**
     * Adds what the output held before, scaled.
     *
     * @param scale
     *            the factor
     */
    record Accumulate(float scale) implements PostOp {
    }
}
