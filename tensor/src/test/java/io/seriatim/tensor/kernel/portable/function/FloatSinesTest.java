package io.seriatim.tensor.kernel.portable.function;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.tensor.computation.Unary.Function;
import io.seriatim.tensor.kernel.KernelContext;
import java.util.Random;
import java.util.function.DoubleUnaryOperator;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FloatSinesTest {
    private static final float[] AWKWARD = {0, -0f, Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY,
            Float.MIN_VALUE, -Float.MIN_VALUE, Float.MIN_NORMAL, Float.MAX_VALUE, -Float.MAX_VALUE, 0x1p20f,
            Math.nextUp(0x1p20f), -0x1p20f, (float) Math.PI, (float) -Math.PI, (float) (Math.PI / 2)};

    /** Half an ulp is what rounding costs; a float has 29 bits less than the float64 that is rounded. */
    private static void check(double exact, float got, float x) {
        if (Double.isNaN(exact)) {
            assertTrue(Float.isNaN(got), "at " + x);
        } else if (exact == 0) {
            assertEquals((float) exact, got, "at " + x);
        } else {
            assertEquals(exact, got, 0.50001 * Math.ulp((float) exact), () -> "at " + x);
        }
    }

    private static float[] arguments(int count, boolean moderate, Random random) {
        float[] x = new float[KernelContext.TILE];
        for (int i = 0; i < count; i++) {
            x[i] = switch (random.nextInt(4)) {
                case 0 -> (float) (random.nextGaussian() * 3);
                case 1 -> random.nextInt(1000) * (float) (Math.PI / 2);
                case 2 -> random.nextFloat(-0x1p20f, 0x1p20f);
                default -> moderate
                        ? Float.intBitsToFloat(random.nextInt(0x49800001) | random.nextInt(2) << 31)
                        : random.nextBoolean()
                                ? AWKWARD[random.nextInt(AWKWARD.length)]
                                : Float.intBitsToFloat(random.nextInt());
            };
        }
        return x;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 7, 63, 64, 65, 207, KernelContext.TILE})
    void sinesAndCosinesAreCorrectlyRounded(int count) {
        Random random = new Random(count);
        for (int round = 0; round < 200; round++) {
            float[] x = arguments(count, round % 2 == 0, random);
            float[] y = new float[KernelContext.TILE];
            for (Function function : new Function[]{Function.SIN, Function.COS}) {
                DoubleUnaryOperator exact = function == Function.SIN ? Math::sin : Math::cos;
                FloatLoops.unary(function, 0, 0, x, y, count);
                for (int i = 0; i < count; i++) {
                    check(exact.applyAsDouble(x[i]), y[i], x[i]);
                }
                float[] same = x.clone();
                FloatLoops.unary(function, 0, 0, same, same, count);
                for (int i = 0; i < count; i++) {
                    assertEquals(y[i], same[i]);
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 65, KernelContext.TILE})
    void gradientsAreCorrectlyRounded(int count) {
        Random random = new Random(count);
        for (int round = 0; round < 200; round++) {
            float[] x = arguments(count, round % 2 == 0, random);
            float[] dy = new float[KernelContext.TILE];
            float[] ofSine = new float[KernelContext.TILE];
            float[] ofCosine = new float[KernelContext.TILE];
            for (int i = 0; i < count; i++) {
                dy[i] = (float) random.nextGaussian();
            }
            FloatSines.sinGrad(x, dy, ofSine, count);
            FloatSines.cosGrad(x, dy, ofCosine, count);
            for (int i = 0; i < count; i++) {
                check(dy[i] * Math.cos(x[i]), ofSine[i], x[i]);
                check(dy[i] * -Math.sin(x[i]), ofCosine[i], x[i]);
            }
        }
    }

    /** An element does not depend on whether its tile has large arguments. */
    @ParameterizedTest
    @ValueSource(floats = {Float.NaN, 1e9f, Float.NEGATIVE_INFINITY})
    void largeArgumentsLeaveOthersAsTheyAre(float large) {
        float[] x = arguments(KernelContext.TILE, true, new Random(1));
        x[5] = 0.5f;
        float[] alone = new float[x.length];
        float[] beside = new float[x.length];
        FloatSines.sin(x, alone, x.length);
        x[5] = large;
        FloatSines.sin(x, beside, x.length);
        beside[5] = alone[5];
        assertArrayEquals(alone, beside);
        x[5] = 0.5f;
        FloatSines.cos(x, alone, x.length);
        x[5] = large;
        FloatSines.cos(x, beside, x.length);
        beside[5] = alone[5];
        assertArrayEquals(alone, beside);
    }
}
