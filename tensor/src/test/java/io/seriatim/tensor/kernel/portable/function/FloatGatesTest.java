package io.seriatim.tensor.kernel.portable.function;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** The functions of the gates of recurrences, beside those of {@code Math}. */
class FloatGatesTest {
    private static final long SEED = 20261127;
    private static final int ROUNDS = Boolean.getBoolean("seriatim.full") ? 20_000 : 400;
    private static final int COUNT = 256;
    /** The bounds that {@link FloatGates} states: absolute, and relative. */
    private static final double SIGMOID_ERROR = 2e-7;
    private static final double TANH_ERROR = 4e-7;

    private static double exact(boolean sigmoid, float x) {
        return sigmoid ? 1 / (1 + Math.exp(-(double) x)) : Math.tanh(x);
    }

    private static float[] computed(boolean sigmoid, float[] x) {
        float[] y = new float[x.length];
        if (sigmoid) {
            FloatGates.sigmoid(x, y, x.length);
        } else {
            FloatGates.tanh(x, y, x.length);
        }
        return y;
    }

    private static void check(boolean sigmoid, float[] x) {
        float[] y = computed(sigmoid, x);
        for (int i = 0; i < x.length; i++) {
            double right = exact(sigmoid, x[i]);
            String what = (sigmoid ? "sigmoid" : "tanh") + " of " + x[i] + ", seed " + SEED + ", is " + y[i];
            double most = sigmoid ? SIGMOID_ERROR : TANH_ERROR * Math.abs(right) + Float.MIN_VALUE;
            assertTrue(Math.abs(y[i] - right) <= most, what);
        }
    }

    @Test
    void errorsAreBelowTheStatedBounds() {
        SplittableRandom random = new SplittableRandom(SEED);
        for (int round = 0; round < ROUNDS; round++) {
            double most = Math.pow(10, random.nextDouble(-12, 2.1));
            float[] x = new float[COUNT];
            for (int i = 0; i < COUNT; i++) {
                x[i] = (float) random.nextDouble(-most, most);
            }
            check(true, x);
            check(false, x);
        }
    }

    /** Every value near the ends of the range where the functions are not constant. */
    @Test
    void endsOfTheRanges() {
        for (float end : new float[]{8.15f, 8.9f, 9.01f, 9.02f, 16.6f, 17.4f, 17.8f, 87.3f, 88.8f, 103.3f, 103.98f, 104,
                110}) {
            float[] x = new float[2 * COUNT];
            float value = end;
            for (int i = 0; i < COUNT; i++) {
                x[i] = value;
                x[COUNT + i] = -value;
                value = Math.nextUp(value);
            }
            check(true, x);
            check(false, x);
        }
    }

    @Test
    void specialNumbers() {
        float[] x = new float[FloatGates.LEAST];
        float[] special = {Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY, 0, -0f, Float.MIN_VALUE,
                -Float.MIN_VALUE, Float.MAX_VALUE, -Float.MAX_VALUE};
        System.arraycopy(special, 0, x, 0, special.length);
        float[] sigmoid = computed(true, x);
        float[] tanh = computed(false, x);
        for (int i = 0; i < special.length; i++) {
            assertEquals((float) exact(true, special[i]), sigmoid[i], "sigmoid of " + special[i]);
            assertEquals((float) exact(false, special[i]), tanh[i], "tanh of " + special[i]);
        }
    }

    /** The loops that join several functions compute what these compute by themselves. */
    @Test
    void gatesOfSumsHaveTheSameBits() {
        SplittableRandom random = new SplittableRandom(SEED + 1);
        float[] x = new float[COUNT];
        float[] more = new float[COUNT];
        for (int i = 0; i < COUNT; i++) {
            x[i] = (float) random.nextDouble(-12, 12);
            more[i] = (float) random.nextDouble(-1, 1);
        }
        x[COUNT - 1] = -0f;
        more[COUNT - 1] = -0f;
        float[] sums = new float[COUNT];
        FloatGates.add(x, more, sums, COUNT);
        float[] scale = new float[COUNT];
        float[] shift = new float[COUNT];
        FloatGates.function(scale, shift, 0, COUNT / 2, false);
        FloatGates.function(scale, shift, COUNT / 2, COUNT, true);
        float[] activated = x.clone();
        FloatGates.activate(activated, more, scale, shift, COUNT);
        float[] sigmoid = computed(true, sums);
        float[] tanh = computed(false, sums);
        float[] times = new float[COUNT];
        FloatGates.tanhTimes(sums, more, times, COUNT);
        for (int i = 0; i < COUNT; i++) {
            float right = i < COUNT / 2 ? sigmoid[i] : tanh[i];
            String what = "number " + i + ", seed " + SEED;
            assertEquals(Float.floatToIntBits(right), Float.floatToIntBits(activated[i]), what);
            assertEquals(Float.floatToIntBits(tanh[i] * more[i]), Float.floatToIntBits(times[i]), what);
        }
    }
}
