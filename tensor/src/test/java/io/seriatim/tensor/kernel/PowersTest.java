package io.seriatim.tensor.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Chain;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.numerics.Power;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Powers of float32 with exponents that are products, roots and quotients. */
class PowersTest {
    private static final long SEED = 20261126;
    private static final int COUNT = Boolean.getBoolean("seriatim.full") ? 2_000_000 : 20_000;
    private static final float[] SPECIAL = {0f, -0f, 1f, -1f, Float.NaN, Float.POSITIVE_INFINITY,
            Float.NEGATIVE_INFINITY, Float.MIN_VALUE, -Float.MIN_VALUE, Float.MIN_NORMAL, -Float.MIN_NORMAL,
            Float.MAX_VALUE, -Float.MAX_VALUE, Math.nextUp(1f), Math.nextDown(1f), 0x1p-75f, -0x1p-75f, 1e19f, -2.5f};

    private static float[] bases() {
        SplittableRandom random = new SplittableRandom(SEED);
        float[] bases = Arrays.copyOf(SPECIAL, COUNT);
        for (int i = SPECIAL.length; i < COUNT; i++) {
            bases[i] = i % 2 == 0
                    ? Float.intBitsToFloat(random.nextInt())
                    : (float) ((random.nextBoolean() ? 1 : -1) * Math.exp(2 * random.nextGaussian()));
        }
        return bases;
    }

    private static float[] powers(float[] bases, float... exponents) {
        return KernelRun.run(Kernels.system(), Binary.of(Binary.Function.POWER), Tensor.of(bases),
                Tensor.of(exponents))[0].toFloatArray();
    }

    private static void same(float expected, float actual, String name) {
        assertEquals(Float.floatToIntBits(expected), Float.floatToIntBits(actual),
                () -> name + ": " + expected + " and not " + actual + ", seed " + SEED);
    }

    @ParameterizedTest
    @ValueSource(floats = {0, 1, 2, 3, 4, 5, 7, 8, 16, 17, -1, -2, -3, -4, -15, -16, 0.5f, -0.5f, 1.5f, -0f})
    void areTheNearestFloats(float exponent) {
        float[] bases = bases();
        float[] powers = powers(bases, exponent);
        for (int i = 0; i < bases.length; i++) {
            // Within one unit in the last place of a double, so that it is nearly always the nearest float.
            float expected = (float) Power.of(bases[i], exponent);
            if (Float.floatToIntBits(expected) != Float.floatToIntBits(powers[i])) {
                assertTrue(isBetween(bases[i], exponent, expected, powers[i]),
                        bases[i] + " to the power of " + exponent + " is " + expected + " and not " + powers[i]
                                + ", seed " + SEED);
            }
        }
    }

    /** Whether the exact power lies in the middle between two neighbours, to fifteen digits. */
    private static boolean isBetween(float base, float exponent, float a, float b) {
        if (exponent != (int) exponent || !Float.isFinite(a) || !Float.isFinite(b)
                || Math.abs(Float.floatToIntBits(a) - Float.floatToIntBits(b)) != 1) {
            return false;
        }
        MathContext digits = new MathContext(60);
        BigDecimal exact = new BigDecimal(base).pow((int) exponent, digits);
        BigDecimal middle = new BigDecimal(a).add(new BigDecimal(b)).divide(BigDecimal.TWO);
        return exact.subtract(middle).abs().compareTo(exact.abs().multiply(new BigDecimal("1e-15"))) < 0;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 5, 1000, 1024, 3000})
    void dependOnNothingButTheElement(int count) {
        float[] choices = {2, 3, 4, 6, -1, -2, 0.5f, -0.5f, 2.2f, 0, 1};
        float[] bases = Arrays.copyOf(bases(), count);
        float[] exponents = new float[count];
        SplittableRandom random = new SplittableRandom(SEED);
        for (int i = 0; i < count; i++) {
            exponents[i] = choices[random.nextInt(choices.length)];
        }
        float[] mixed = powers(bases, exponents);
        for (float exponent : choices) {
            float[] alike = powers(bases, exponent);
            float[] chained = KernelRun.run(Kernels.system(),
                    Chain.of(2, new Chain.Combine(Binary.Function.POWER, 0, 1)), Tensor.of(bases),
                    Tensor.of(new float[]{exponent}))[0].toFloatArray();
            float[] unary = KernelRun.run(Kernels.system(), new Unary(Unary.Function.POW, exponent, 0),
                    Tensor.of(bases))[0].toFloatArray();
            for (int i = 0; i < count; i++) {
                String name = bases[i] + " to the power of " + exponent;
                same(alike[i], chained[i], name);
                same(alike[i], unary[i], name);
                if (exponents[i] == exponent) {
                    same(alike[i], mixed[i], name);
                }
            }
        }
    }
}
