package io.seriatim.tensor.kernel.portable;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.tensor.kernel.portable.function.FloatLoops;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ReluGradientTest {
    private static final float[] AWKWARD = {0f, -0f, Float.NaN, Float.intBitsToFloat(0xffc00001), Float.MIN_VALUE,
            -Float.MIN_VALUE,
            Float.MIN_NORMAL, -Float.MIN_NORMAL, Float.MAX_VALUE, -Float.MAX_VALUE, Float.POSITIVE_INFINITY,
            Float.NEGATIVE_INFINITY, 1,
            -1};

    /** Of each awkward number with each other, and of any bits. */
    @Test
    void isTheOneByDefinition() {
        int pairs = AWKWARD.length * AWKWARD.length;
        int count = pairs + 10_000;
        float[] x = new float[count];
        float[] dy = new float[count];
        Random random = new Random(3);
        for (int i = 0; i < count; i++) {
            x[i] = i < pairs ? AWKWARD[i / AWKWARD.length] : Float.intBitsToFloat(random.nextInt());
            dy[i] = i < pairs ? AWKWARD[i % AWKWARD.length] : random.nextFloat() - 0.5f;
        }
        float[] dx = new float[count];
        FloatLoops.reluGrad(x, dy, dx, count);
        for (int i = 0; i < count; i++) {
            float expected = dy[i] * (x[i] > 0 ? 1f : 0f);
            assertEquals(Float.floatToIntBits(expected), Float.floatToIntBits(dx[i]),
                    x[i] + " with " + dy[i] + " gives " + dx[i]);
        }
    }
}
