package io.seriatim.tensor.computation;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import org.jspecify.annotations.Nullable;

/**
 * Random numbers of a distribution. Input a key, int64 [2]: a seed, and a number that tells the draws of one seed
 * apart; output any tensor. Element i depends on the key and i alone, never on threads or layout.
 *
 * @param distribution
 *            the function
 * @param a
 *            its first parameter
 * @param b
 *            its second parameter
 * @param dtype
 *            the result's type
 */
public record RandomNumbers(Distribution distribution, double a, double b, DType dtype) implements Computation {
    /** The distributions. */
    public enum Distribution {
        /** Evenly from a, included, to b, excluded. */
        UNIFORM,
        /** Normal with mean a and standard deviation b. */
        NORMAL,
        /** Normal with mean a and standard deviation b, truncated at two standard deviations. */
        TRUNCATED_NORMAL,
        /** 1 with probability a, else 0. */
        BERNOULLI,
        /** Whole numbers, evenly from a, included, to b, excluded. */
        WHOLE
    }

    /**
     * Checks the parameters.
     *
     * @throws IllegalArgumentException
     *             naming the one that is wrong
     */
    public RandomNumbers {
        boolean range = (distribution != Distribution.UNIFORM && distribution != Distribution.WHOLE) || a < b
                || (a == b && distribution == Distribution.UNIFORM);
        boolean deviation = (distribution != Distribution.NORMAL && distribution != Distribution.TRUNCATED_NORMAL)
                || b >= 0;
        boolean probability = distribution != Distribution.BERNOULLI || (a >= 0 && a <= 1);
        if (!range || !deviation || !probability) {
            throw new IllegalArgumentException("random: "
                    + (range
                            ? deviation ? "the probability must be from 0 to 1" : "the deviation must be 0 or more"
                            : "the range must not be empty")
                    + ", but the parameters of " + distribution + " are " + a + " and " + b);
        }
    }

    @Override
    public String operation() {
        return "random";
    }

    @Override
    public DType keyType(@Nullable TensorSpec... arguments) {
        return dtype;
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, 1, 1);
        checkKey(in, in.get(0, "key"));
        return new TensorSpec[0];
    }

    static void checkKey(Operands in, TensorSpec key) {
        in.require(key.dtype() == DType.INT64 && key.shape().size() == 2 && key.isRowMajor(),
                "the key must be int64 [2], but is %s", key);
    }
}
