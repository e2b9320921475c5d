package io.seriatim.tensor.kernel.portable.function;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Chain;
import io.seriatim.tensor.computation.Unary;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The steps of a chain that turn float32 into levels of 8 bits, which one loop computes: a quotient, if there is one,
 * rounded, a zero point added, if there is one, clipped and cast.
 *
 * @param steps
 *            the steps before the cast, which only it needs
 * @param x
 *            the number of the value that becomes levels
 * @param divisor
 *            the number of its divisor, {@link Chain#ABSENT} for none
 * @param zero
 *            the number of the zero point, a single element that is an input or the cast of one;
 *            {@link Chain#ABSENT} for none
 * @param least
 *            the least level
 * @param most
 *            the greatest level
 */
public record Quantization(List<Integer> steps, int x, int divisor, int zero, int least, int most) {
    /** Up to this magnitude, a zero point cannot bring back into the range what was rounded coarsely. */
    private static final float LARGEST_ZERO = 1 << 20;
    /** Added and subtracted again, it rounds smaller numbers than 2²² to whole ones, halves to even. */
    private static final float ROUNDING = 3 << 22;
    private static final int LEAST_COUNT = 64;

    /**
     * Returns the steps that end with a cast; null if there are others.
     *
     * @param chain
     *            the chain
     * @param values
     *            the types of its values
     * @param step
     *            the index of the cast
     * @return null if the steps cannot be one loop
     */
    public static @Nullable Quantization of(Chain chain, TensorSpec[] values, int step) {
        if (!(chain.steps().get(step) instanceof Chain.Cast(var to, var clipped))
                || (to != DType.INT8 && to != DType.UINT8)
                || !(inner(chain, clipped) instanceof Chain.Apply(var clip, var shifted))
                || clip.function() != Unary.Function.CLIP) {
            return null;
        }
        int zero = Chain.ABSENT;
        int rounded = shifted;
        if (inner(chain, shifted) instanceof Chain.Combine(var function, var left, var right)
                && function == Binary.Function.ADD && isSingle(chain, values, right)) {
            zero = right;
            rounded = left;
        }
        if (!(inner(chain, rounded) instanceof Chain.Apply(var round, var quotient))
                || round.function() != Unary.Function.ROUND || !areLevels(clip, to)) {
            return null;
        }
        int x = quotient;
        int divisor = Chain.ABSENT;
        if (inner(chain, quotient) instanceof Chain.Combine(var function, var left, var right)
                && function == Binary.Function.DIVIDE) {
            x = left;
            divisor = right;
        }
        int[] all = divisor != Chain.ABSENT
                ? new int[]{clipped, shifted, rounded, quotient}
                : new int[]{clipped, shifted, rounded};
        if (Arrays.stream(all).anyMatch(value -> values[value].dtype() != DType.FLOAT32)) {
            return null;
        }
        return new Quantization(Arrays.stream(all).map(value -> value - chain.inputs()).distinct().boxed().toList(), x,
                divisor, zero, (int) clip.alpha(), (int) clip.beta());
    }

    /** The step whose result is a value that only one other step uses; null for other values. */
    private static Chain.@Nullable Step inner(Chain chain, int value) {
        long uses = chain.steps().stream().flatMap(step -> step.operands().stream()).filter(each -> each == value)
                .count();
        return value < chain.inputs() || uses != 1 || chain.outputs().contains(value)
                ? null
                : chain.steps().get(value - chain.inputs());
    }

    private static boolean isSingle(Chain chain, TensorSpec[] values, int value) {
        int source = value >= chain.inputs()
                && chain.steps().get(value - chain.inputs()) instanceof Chain.Cast(var _, var x) ? x : value;
        return source < chain.inputs() && values[source].shape().size() == 1 && values[value].dtype() == DType.FLOAT32;
    }

    /** Whether bounds are levels of a type with 0 among them, which NaN becomes. */
    private static boolean areLevels(Unary clip, DType dtype) {
        float least = clip.alpha();
        float most = clip.beta();
        boolean signed = dtype == DType.INT8;
        return least == (int) least && most == (int) most && least <= 0 && most >= 0
                && least >= (signed ? Byte.MIN_VALUE : 0) && most <= (signed ? Byte.MAX_VALUE : 255);
    }

    /**
     * Computes levels, to the bit as the steps would.
     *
     * @param x
     *            the numbers, with room for 64 or more
     * @param divisors
     *            their divisors, null for none
     * @param zero
     *            the zero point
     * @param out
     *            gets the levels, and anything after them; may be {@code x}
     * @param count
     *            how many
     */
    public void run(float[] x, float @Nullable [] divisors, float zero, float[] out, int count) {
        int n = Math.max(count, LEAST_COUNT);
        if (!(Math.abs(zero) <= LARGEST_ZERO)) {
            slowly(x, divisors, zero, out, count);
        } else if (divisors == null) {
            round(x, zero, least, most, out, n);
        } else {
            divide(x, divisors, zero, least, most, out, n);
        }
    }

    private static void divide(float[] x, float[] divisors, float zero, int least, int most, float[] out, int n) {
        for (int i = 0; i < n; i++) {
            float rounded = x[i] / divisors[i] + ROUNDING - ROUNDING;
            out[i] = Math.min(Math.max((int) (rounded + zero), least), most);
        }
    }

    private static void round(float[] x, float zero, int least, int most, float[] out, int n) {
        for (int i = 0; i < n; i++) {
            float rounded = x[i] + ROUNDING - ROUNDING;
            out[i] = Math.min(Math.max((int) (rounded + zero), least), most);
        }
    }

    private void slowly(float[] x, float @Nullable [] divisors, float zero, float[] out, int count) {
        for (int i = 0; i < count; i++) {
            float rounded = (float) Math.rint(divisors == null ? x[i] : x[i] / divisors[i]);
            out[i] = Math.min(Math.max((int) (rounded + zero), least), most);
        }
    }
}
