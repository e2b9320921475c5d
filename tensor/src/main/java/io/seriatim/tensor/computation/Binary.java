package io.seriatim.tensor.computation;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Split;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A function of two elements. Inputs x, y, which broadcast, and one more for each {@link PostOp.Combine}; output of the
 * broadcast shape, of x's type, or bool for comparisons and logic.
 *
 * @param function
 *            the function
 * @param postOps
 *            the functions applied to each element of the result, in order
 */
public record Binary(Function function, List<PostOp> postOps) implements Computation {
    /** The functions. */
    public enum Function {
        /** x + y. */
        ADD,
        /** x − y. */
        SUBTRACT,
        /** x · y. */
        MULTIPLY,
        /** x / y; of whole numbers towards 0, and not by 0. */
        DIVIDE,
        /** The larger; NaN if either is. */
        MAXIMUM,
        /** The smaller; NaN if either is. */
        MINIMUM,
        /**
         * A rectifier with a slope (He et al., 2015): x, times y where it is below 0. NaN stays NaN. It is computed as
         * max(x, −0) + min(x, 0) · y, so that y should be finite.
         */
        PRELU,
        /** x to the power of y; of whole numbers with exponents from 0. */
        POWER,
        /** The rest of x / y, with y's sign. */
        MODULO,
        /** The rest of x / y, with x's sign. */
        REMAINDER,
        /** The largest whole number up to x / y. */
        FLOOR_DIVIDE,
        /** x = y; bool. */
        EQUAL,
        /** x ≠ y; bool. */
        NOT_EQUAL,
        /** x &lt; y; bool. */
        LESS,
        /** x ≤ y; bool. */
        LESS_EQUAL,
        /** x &gt; y; bool. */
        GREATER,
        /** x ≥ y; bool. */
        GREATER_EQUAL,
        /** Whether neither is 0; bool. */
        LOGICAL_AND,
        /** Whether not both are 0; bool. */
        LOGICAL_OR,
        /** Whether just one is 0; bool. */
        LOGICAL_XOR,
        /** The bits that both have; of whole numbers and bool, as all functions of bits. */
        BITWISE_AND,
        /** The bits that one or both have. */
        BITWISE_OR,
        /** The bits that just one has. */
        BITWISE_XOR,
        /** The bits of x moved up by y places; 0 if that is all of them. */
        SHIFT_LEFT,
        /** The bits of x moved down by y places; those of a signed type keep the sign. */
        SHIFT_RIGHT;

        /**
         * Whether the function is a test, whose results are of the type bool.
         *
         * @return whether it is
         */
        public boolean isTest() {
            return switch (this) {
                case EQUAL, NOT_EQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, LOGICAL_AND, LOGICAL_OR, LOGICAL_XOR ->
                    true;
                default -> false;
            };
        }

        /**
         * Whether the function is one of bits, which floating-point numbers do not have.
         *
         * @return whether it is
         */
        public boolean isBitwise() {
            return switch (this) {
                case BITWISE_AND, BITWISE_OR, BITWISE_XOR, SHIFT_LEFT, SHIFT_RIGHT -> true;
                default -> false;
            };
        }
    }

    /** Copies the list. */
    public Binary {
        postOps = List.copyOf(postOps);
    }

    /**
     * Without post-ops.
     *
     * @param function
     *            the function
     * @return the computation
     */
    public static Binary of(Function function) {
        return new Binary(function, List.of());
    }

    /**
     * Whether every kernel that comes with this module gives the same to the bit, so that it does not matter for the
     * result which one computes.
     *
     * @param dtype
     *            the type of x and y
     * @return whether they do; always so for float32 without post-ops
     */
    public boolean isExact(DType dtype) {
        if (dtype == DType.BFLOAT16 || dtype == DType.FLOAT16) {
            return postOps.isEmpty() && switch (function) {
                // The library takes the smallest results in bfloat16 for 0.
                case ADD, SUBTRACT, MULTIPLY, DIVIDE -> dtype == DType.FLOAT16;
                default -> true;
            };
        }
        return postOps.isEmpty() || postOps.stream().allMatch(postOp -> switch (postOp) {
            case PostOp.Apply(var applied, var alpha, var beta) -> new Unary(applied, alpha, beta).isExact(dtype);
            case PostOp.Combine _ -> true;
            case PostOp.Accumulate _ -> false;
        });
    }

    @Override
    public String operation() {
        return "binary";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        int count = 2;
        for (PostOp postOp : postOps) {
            count += postOp instanceof PostOp.Combine ? 1 : 0;
        }
        Operands in = Operands.of(operation(), inputs, count, count);
        TensorSpec x = in.get(0, "x");
        TensorSpec y = in.get(1, "y");
        in.sameType(x, y, "x and y");
        in.require(!function.isBitwise() || x.dtype().isWhole() || x.dtype() == DType.BOOL,
                "%s is of whole numbers or bool, but x is %s", function, x.dtype());
        Shape out;
        try {
            out = x.shape().broadcast(y.shape());
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(operation() + " " + function + ": " + e.getMessage(), e);
        }
        return new TensorSpec[]{TensorSpec.of(function.isTest() ? DType.BOOL : x.dtype(), out)};
    }

    @Override
    public boolean inPlace(int input, @Nullable TensorSpec... arguments) {
        // The previous elements of the output, which an accumulation reads, would be lost.
        boolean accumulates = postOps.stream().anyMatch(PostOp.Accumulate.class::isInstance);
        return input < 2 && !accumulates && Operands.alike(input, arguments.length - 1, arguments);
    }

    @Override
    public List<Split> splits(@Nullable TensorSpec... arguments) {
        TensorSpec out = arguments[arguments.length - 1];
        return out == null ? List.of() : Split.elementwise(out.shape(), arguments);
    }
}
